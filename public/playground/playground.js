/* global GraphiQL, React, ReactDOM */

import { restored, session } from '../../site/session.js';
import { keepRepaired, named } from './repair.js';
import { EXAMPLES } from './examples.js';
import { EXAMPLES_PLUGIN } from './examples-plugin.js';

/** How many examples are open in tabs; the list has all of them. */
const TABS = 4;

/** A proxy may serve the page below a path. */
const ADDRESS = new URL('../../graphql', import.meta.url).href;

await restored;

/** Calls with the cookie of the session need its CSRF token. A token in the headers editor counts before the cookie. */
const fetchAsCaller = (url, { headers, ...options }) =>
  fetch(url, {
    ...options,
    headers: { ...headers, ...(session.csrfToken && { 'x-csrf-token': session.csrfToken }) },
  });

/** GraphiQL compares them by identity. */
const plugins = [EXAMPLES_PLUGIN];
const fetcher = GraphiQL.createFetcher({ url: ADDRESS, fetch: fetchAsCaller });

const root = ReactDOM.createRoot(document.getElementById('playground'));
root.render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultTabs: EXAMPLES.slice(0, TABS),
    plugins,
    defaultEditorToolsVisibility: true,
    forcedTheme: 'system',
    // Tabs are remembered, but not what is secret in them.
    shouldPersistHeaders: false,
  }),
);

keepRepaired(document.getElementById('playground'), {
  '.graphiql-query-editor textarea:not([aria-label])': named('Operation'),
  '.graphiql-editor-tool .graphiql-editor:first-child textarea:not([aria-label])': named('Variables'),
  '.graphiql-editor-tool .graphiql-editor textarea:not([aria-label])': named('Headers'),
  '.result-window textarea:not([aria-label])': named('Response'),
  '.CodeMirror-scroll:not([tabindex="0"])': (scroller) => (scroller.tabIndex = 0),
  // A tab must not contain buttons, but each of these has one that selects and one that closes it.
  '.graphiql-tabs[role=tablist]': (tabs) => tabs.setAttribute('role', 'list'),
  '.graphiql-tab[aria-selected]': (tab) => {
    const isSelected = tab.getAttribute('aria-selected');
    tab.setAttribute('role', 'listitem');
    tab.removeAttribute('aria-selected');
    tab.querySelector('.graphiql-tab-button').setAttribute('aria-current', isSelected);
  },
});
