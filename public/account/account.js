// The page behind the links in mails, which does nothing before its button is pressed. Without such a link, the page
// where people log in, register, and manage their account.

import { ACCOUNT_PAGE } from './calls.js';
import { element, field, form } from '../site/elements.js';
import { call } from '../site/session.js';
import { showForgotten, showRegistration } from './entrance.js';
import { showAccount } from './manage.js';
import { newPasswordField } from './new-password.js';

const TO_ACCOUNT = { text: 'Go to your account', href: ACCOUNT_PAGE };
const TO_LOGIN = { text: 'Log in', href: ACCOUNT_PAGE };
const TO_RESET = { text: 'Request a new mail', href: `${ACCOUNT_PAGE}#forgot` };

/** `next` and `otherwise` are the ways on after a success and after a link that does not work. */
const ACTIONS = {
  'verify-email': {
    title: 'Confirm your e-mail address',
    text: 'Press the button to confirm that this address is yours. Do this only if you created the account.',
    button: 'Confirm the address',
    path: 'email/verify/',
    done: 'Your e-mail address is confirmed.',
    next: TO_ACCOUNT,
    otherwise: TO_LOGIN,
  },
  'change-email': {
    title: 'Confirm your new e-mail address',
    text: 'Press the button to use the new address for your account from now on.',
    button: 'Use this address',
    path: 'email/change/confirm/',
    done: 'Your account has the new address. Use it when you log in.',
    next: TO_ACCOUNT,
    otherwise: TO_ACCOUNT,
  },
  'reset-password': {
    title: 'Choose a new password',
    text: 'The new password ends all logins of your account.',
    button: 'Set the password',
    path: 'password/reset/confirm/',
    done: 'Your password is changed. Log in with the new one.',
    next: TO_LOGIN,
    otherwise: TO_RESET,
    needsPassword: true,
  },
};

/** Pages with a fragment of their own. */
const PAGES = { forgot: showForgotten, register: showRegistration };

/** What to do about an error, by its code. */
const ADVICE = {
  INVALID_CODE:
    'This link has expired, was used before, or was replaced by a newer mail. Request a new mail.',
  FORBIDDEN:
    'Somebody else may have registered your address: the account has more than a password already. If it is yours, enter its password. Otherwise request a new password, which removes what they have added.',
  CONFLICT: 'Another account now uses this address. Request the change with another address.',
  RATE_LIMITED: 'Too many attempts. Wait a few minutes, and try again.',
};

/** The account of the link need not be the one that is logged in. */
const BY_TOKEN_ONLY = { credentials: 'omit', referrerPolicy: 'no-referrer' };

const FAILURE = 'The request failed. Try again in a moment.';

/** After these, the same token may still work. */
const RETRYABLE = new Set([
  'VALIDATION_ERROR',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_ERROR',
  undefined,
]);

const byId = (id) => document.getElementById(id);
const account = byId('account');

const fragment = location.hash.slice(1);
const parameters = new URLSearchParams(fragment);
const query = new URLSearchParams(location.search);
const token = parameters.get('token');
const own = (among, name) => (Object.hasOwn(among, name ?? '') ? among[name] : undefined);
const action = own(ACTIONS, parameters.get('action'));
// Neither the history nor a copied address keeps the token, or the code of a login at a provider.
history.replaceState(null, '', location.pathname);
// Another link is opened in the same tab.
addEventListener('hashchange', () => location.reload());

if (action && token) showAction();
else if (own(PAGES, fragment)) PAGES[fragment](account, { report, entitle, wayOn });
else if (fragment === '' || fragment === 'password') void showAccount(account, report, fragment, query);
else {
  entitle(
    'This link is incomplete',
    'This page needs the link from a mail. Copy the whole link, or request a new mail.',
  );
  account.replaceChildren(wayOn(TO_LOGIN));
}

function entitle(title, text) {
  byId('title').textContent = title;
  document.title = `${title} · Posts API`;
  byId('text').textContent = text;
  byId('text').hidden = text === '';
}

/** A link that looks like a button. */
function wayOn({ text, href }) {
  return element('a', { className: 'button', href, textContent: text });
}

function showAction() {
  entitle(action.title, action.text);
  const fields = action.needsPassword
    ? [newPasswordField('New password', { id: 'password', name: 'new_password' })]
    : [];
  account.replaceChildren(form(action.button, fields, submit));
}

async function submit(values) {
  report('');
  const { ok, status, code, message } = await call('POST', action.path, { token, ...values }, BY_TOKEN_ONLY);
  if (code === 'FORBIDDEN') {
    const password = field('Password', {
      name: 'password',
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    });
    account.replaceChildren(form(action.button, [password], submit), wayOn(TO_RESET));
  } else if (ok || !RETRYABLE.has(code)) {
    byId('text').hidden = true;
    account.replaceChildren(wayOn(ok ? action.next : action.otherwise));
  }
  if (ok) report(action.done);
  else report(ADVICE[code] ?? ([400, 422].includes(status) ? sentence(message) : FAILURE), true);
}

/** `new_password must be …` as a person reads it. */
const sentence = (message) => message.replaceAll('new_password', 'The password');

function report(text, isError = false) {
  byId('result').textContent = text;
  byId('result').classList.toggle('error', isError);
}
