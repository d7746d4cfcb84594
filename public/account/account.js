// The page behind the links in mails, which does nothing before its button is pressed. Without such a link, the page
// where people manage their account.

import { showAccount } from './manage.js';

const ACTIONS = {
  'verify-email': {
    title: 'Confirm your e-mail address',
    text: 'Press the button to confirm that this address is yours. Do this only if you created the account.',
    button: 'Confirm the address',
    path: 'email/verify/',
    done: 'Your e-mail address is confirmed.',
  },
  'change-email': {
    title: 'Confirm your new e-mail address',
    text: 'Press the button to use the new address for your account from now on.',
    button: 'Use this address',
    path: 'email/change/confirm/',
    done: 'Your account has the new address. Use it when you log in.',
  },
  'reset-password': {
    title: 'Choose a new password',
    text: 'The new password ends all logins of your account.',
    button: 'Set the password',
    path: 'password/reset/confirm/',
    done: 'Your password is changed. Log in with the new one.',
    needsPassword: true,
  },
};

/** What to do about an error, by its code. */
const ADVICE = {
  INVALID_CODE:
    'This link has expired, was used before, or was replaced by a newer mail. Request a new mail.',
  CONFLICT: 'Another account now uses this address. Request the change with another address.',
  RATE_LIMITED: 'Too many attempts. Wait a few minutes, and try again.',
};

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

const fragment = location.hash.slice(1);
const parameters = new URLSearchParams(fragment);
const token = parameters.get('token');
const action = Object.hasOwn(ACTIONS, parameters.get('action') ?? '') && ACTIONS[parameters.get('action')];
// Neither the history nor a copied address keeps the token.
history.replaceState(null, '', location.pathname);

if (action && token) show();
else if (fragment === '') void showAccount(byId('account'), report);
else {
  byId('text').textContent = 'This page needs the link from a mail.';
  byId('text').hidden = false;
}

function show() {
  document.title = byId('title').textContent = action.title;
  byId('text').textContent = action.text;
  byId('text').hidden = false;
  byId('button').textContent = action.button;
  if (action.needsPassword) {
    byId('password-field').hidden = false;
    byId('password').disabled = false;
  }
  byId('form').hidden = false;
  byId('form').addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
}

async function submit() {
  byId('button').disabled = true;
  report('');
  const body = { token, ...(action.needsPassword && { new_password: byId('password').value }) };
  const { ok, code, message } = await send(`../auth/${action.path}`, body);
  byId('button').disabled = false;
  if (ok || !RETRYABLE.has(code)) {
    byId('form').hidden = true;
    byId('text').hidden = true;
    byId('password').value = '';
  }
  if (ok) report(action.done);
  else report(ADVICE[code] ?? (code === 'VALIDATION_ERROR' ? sentence(message) : FAILURE), true);
}

async function send(url, body) {
  try {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    });
    const { error } = await reply.json();
    return { ok: reply.ok, code: error?.code, message: error?.message };
  } catch {
    return { ok: false };
  }
}

/** `new_password must be …` as a person reads it. */
const sentence = (message) => `${message.replaceAll('new_password', 'The password')}.`;

function report(text, isError = false) {
  byId('result').textContent = text;
  byId('result').classList.toggle('error', isError);
}
