/* global SwaggerUIBundle */

import { restored, session } from '../site/session.js';
import { keepRepaired, level, named } from '../site/repair.js';
import { LayoutPlugin, SearchPlugin } from './plugins.js';

// An earlier version of this page kept tokens there.
localStorage.removeItem('authorized');

const caller = document.getElementById('caller');
const showCaller = () => {
  caller.textContent = session.account
    ? `Operations are tried out as ${session.account.email}. The curl commands that they show contain no credentials.`
    : 'Operations with a lock require an account: log in at the top of the page.';
};
session.addEventListener('change', showCaller);
await restored;
showCaller();

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  filter: true,
  plugins: [SearchPlugin, LayoutPlugin],
  layout: 'PageLayout',
  validatorUrl: null,
  // The browser adds the cookie of the session.
  requestInterceptor: (request) => {
    if (session.csrfToken && !/^(GET|HEAD)$/i.test(request.method ?? 'GET')) {
      request.headers['X-CSRF-Token'] = session.csrfToken;
    }
    return request;
  },
});

keepRepaired(document.getElementById('reference'), {
  '.operation-filter-input:not([aria-label])': (search) => {
    search.placeholder = 'Search operations';
    named('Search operations')(search);
  },
  '.body-param__text:not([aria-label])': named('Request body'),
  '.examples-select-element:not([aria-label])': named('Example'),
  'h3:not([aria-level])': level(2),
  'h4:not([aria-level])': level(3),
  'h5:not([aria-level])': level(4),
});
