// The right end of the header: who is logged in, or the way to the login.

import { element } from './elements.js';
import { restored, session } from './session.js';

const place = document.getElementById('session');
/** The address of the account page; absent if a front end has one instead. */
const accountPage = place.dataset.account;

function show() {
  const { account } = session;
  const here = encodeURIComponent(location.pathname + location.hash);
  place.replaceChildren(
    account
      ? element(
          'a',
          { href: accountPage, title: account.email },
          element('span', { className: 'visually-hidden', textContent: 'Logged in as ' }),
          account.name || account.email,
        )
      : element('a', {
          id: 'login',
          className: 'button',
          href: `${accountPage}#/?to=${here}`,
          textContent: 'Log in',
        }),
  );
}

// The account page fills its header itself.
if (accountPage && !document.querySelector('main > #app')) {
  session.addEventListener('change', show);
  await restored;
  show();
}
