// Where people log in to manage their account: logins, two-step login, passkeys, API keys and identities.

import { button, choice, date, element, field, form, list, section } from '../site/elements.js';
import { codeField, finishLogin, showLogin } from '../site/login.js';
import { credential, wrongHost } from '../site/passkeys.js';
import { call, logOut, restore, session } from '../site/session.js';
import { ACCOUNT_PAGE, callRecently } from './calls.js';
import { newPasswordField } from './new-password.js';
import { completeLogin, listProviders, startLogin } from './social.js';
import { qrcode } from './vendor/qrcode.js';

let root;
let report;

/**
 * @param into the element that gets the page
 * @param tell shows a sentence, and whether it is an error
 * @param part the fragment: `password` for the section of the password
 * @param query of the address: what a login at a provider has brought back
 */
export async function showAccount(into, tell, part, query) {
  [root, report] = [into, tell];
  const completed = await completeLogin(query);
  if (completed) {
    const { reply, proof } = completed;
    const again = () => logIn(part);
    if (!reply.ok) again();
    finishLogin(root, report, () => open(part), reply, again, proof);
  } else if (await restore()) await open(part);
  else logIn(part);
}

function logIn(part) {
  const ways = [element('a', { href: `${ACCOUNT_PAGE}#forgot`, textContent: 'Forgot your password?' })];
  if (document.body.dataset.registration === 'open')
    ways.push(element('a', { href: `${ACCOUNT_PAGE}#register`, textContent: 'Create an account' }));
  showLogin(root, report, () => open(part), ...ways);
  const place = root.querySelector('.ways');
  void listProviders().then((all) =>
    place.append(...all.map(({ name, url }) => button(`Log in with ${name}`, () => startLogin(url)))),
  );
}

async function open(part) {
  report('');
  const { account } = session;
  const parts = [
    ['Logins', showLogins],
    ['Password', showPassword],
    ['Two-step login', showFactors],
    ['Passkeys', showPasskeys],
    ['API keys', showApiKeys],
    ['Identities', showIdentities],
  ];
  const sections = parts.map(([title]) => section(title));
  root.replaceChildren(
    element('p', { textContent: `Logged in as ${account.name}, ${account.email}.` }),
    button('Log out', async () => {
      const reply = await logOut();
      if (!reply.ok) return report(reply.message, true);
      logIn();
      return report('You are logged out.');
    }),
    ...sections,
  );
  // Before the sections are filled: people may have gone on by keyboard when the last one is.
  sections[part === 'password' ? 1 : 0].querySelector('h2').focus();
  await Promise.all(parts.map(([, show], n) => refresh(sections[n], show)));
  // The sections above it have grown.
  if (part === 'password') sections[1].scrollIntoView({ block: 'nearest' });
}

/** Fills a section again, after its heading. */
async function refresh(part, show) {
  const again = (text) => {
    if (text !== undefined) report(text);
    return refresh(part, show);
  };
  const heading = part.firstElementChild;
  const content = await show(again);
  const hadFocus = part.contains(document.activeElement);
  // The heading stays in the page: a screen reader would announce it again.
  while (heading.nextSibling) heading.nextSibling.remove();
  part.append(...content);
  // The focused button is gone: without this, the keyboard would start at the top of the page.
  if (hadFocus) heading.focus();
}

/** Makes a call for a button, and shows the section again or the error. */
const act = (again, done, send) => async () => {
  const reply = await send();
  if (reply.ok) await again(done);
  else report(reply.message, true);
};

async function showLogins(again) {
  const { body } = await call('GET', 'sessions/');
  const entries = body.data.map(({ id, kind, agent, address, last_used_at, current }) => ({
    text: `${agent || 'Unknown program'} at ${address}, ${kind}, last used ${date(last_used_at)}${current ? ' (this one)' : ''}`,
    action: current
      ? undefined
      : button(
          'End',
          act(again, 'The login has ended.', () => call('DELETE', `sessions/${id}/`)),
          { ariaLabel: `End the login of ${agent} at ${address}` },
        ),
  }));
  const others = act(again, 'All other logins have ended.', () => call('DELETE', 'sessions/'));
  return [list(entries, 'There are none.'), button('End all others', others)];
}

function showPassword(again) {
  const { account } = session;
  const fields = [
    // Password managers find out by it which of their entries changes.
    element('input', {
      name: 'username',
      autocomplete: 'username',
      value: account.email,
      readOnly: true,
      hidden: true,
    }),
    field('Current password', {
      name: 'old_password',
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    }),
    newPasswordField('New password', { name: 'new_password' }, () => [account.email, account.name]),
  ];
  return [
    element(
      'p',
      {},
      'A new password ends your other logins. Without a password yet, ',
      element('a', { href: `${ACCOUNT_PAGE}#forgot`, textContent: 'request one by mail' }),
      '.',
    ),
    form('Change the password', fields, async ({ old_password, new_password }) => {
      const reply = await call('POST', 'change-password/', { old_password, new_password });
      if (reply.ok) await again('Your password is changed, and your other logins have ended.');
      else report(reply.message.replace('new_password', 'The password'), true);
    }),
  ];
}

async function showFactors(again) {
  const { body } = await call('GET', 'mfa/');
  const { totp, recovery_codes_left } = body.data;
  if (!totp) {
    const setUp = button('Set up an authenticator app', async () => {
      const reply = await callRecently('POST', 'mfa/totp/');
      if (!reply.ok) return report(reply.message, true);
      report('');
      return showSetUp(steps, reply.body, again);
    });
    const steps = element('div', {}, setUp);
    return [element('p', { textContent: 'It is off: your password alone can log in.' }), steps];
  }
  const withCode = (title, method, path, done) =>
    form(title, [codeField()], async ({ code }) => {
      const reply = await callRecently(method, path, { code });
      if (!reply.ok) report(reply.message, true);
      else await done(reply.body);
    });
  return [
    element('p', { textContent: `It is on. Recovery codes left: ${recovery_codes_left}.` }),
    details('Create new recovery codes', (into) =>
      withCode('Create codes', 'POST', 'mfa/recovery-codes/', (created) =>
        showRecoveryCodes(into, created, again),
      ),
    ),
    details('Turn it off', () =>
      withCode('Turn off', 'DELETE', 'mfa/totp/', () => again('Two-step login is off.')),
    ),
  ];
}

function details(title, content) {
  const made = element('details', {}, element('summary', { textContent: title }));
  const body = element('div');
  body.append(content(body));
  made.append(body);
  return made;
}

/** The keyboard continues at the input of the step, or at the text to copy. */
function showStep(into, ...content) {
  into.replaceChildren(...content);
  into.querySelector('input, pre').focus();
}

function showSetUp(into, { secret, uri }, again) {
  const qr = qrcode(0, 'M');
  qr.addData(uri);
  qr.make();
  showStep(
    into,
    element('img', { src: qr.createDataURL(5, 20), alt: 'QR code for an authenticator app' }),
    element(
      'p',
      {},
      'Scan it with an app, or enter this key there: ',
      element('code', { textContent: secret }),
    ),
    form('Turn on', [codeField()], async ({ code }) => {
      const reply = await call('POST', 'mfa/totp/confirm/', { code });
      if (!reply.ok) return report(reply.message, true);
      return showRecoveryCodes(into, reply.body, again);
    }),
  );
}

function showRecoveryCodes(into, { recovery_codes }, again) {
  report('Store the recovery codes in a safe place. They are shown only now.');
  showStep(
    into,
    element('p', { textContent: 'Each of these codes replaces one of the app, once:' }),
    element('pre', { textContent: recovery_codes.join('\n'), tabIndex: 0 }),
    button('I have stored them', () => again('')),
  );
}

async function showPasskeys(again) {
  const { body } = await call('GET', 'passkeys/');
  const entries = body.data.map(({ id, name, created_at, last_used_at }) => ({
    text: `${name}, added ${date(created_at)}, last used ${date(last_used_at)}`,
    action: button(
      'Remove',
      act(again, 'The passkey is removed.', () => callRecently('DELETE', `passkeys/${id}/`)),
      { ariaLabel: `Remove the passkey ${name}` },
    ),
  }));
  const add = form(
    'Add a passkey',
    [field('Name', { name: 'name', required: true, maxLength: 150, value: 'This device' })],
    async ({ name }) => {
      const options = await callRecently('POST', 'passkeys/options/');
      if (!options.ok) return report(options.message, true);
      const host = wrongHost(options.body);
      if (host) return report(host, true);
      const response = await credential('create', options.body);
      if (response === null) return report('No passkey was created.', true);
      const reply = await call('POST', 'passkeys/', { response, name });
      return reply.ok ? again('The passkey is added.') : report(reply.message, true);
    },
  );
  return [list(entries, 'There are none.'), add];
}

async function showApiKeys(again) {
  const { body } = await call('GET', 'api-keys/');
  const entries = body.data.map(({ id, name, prefix, scope, last_used_at, expires_at }) => ({
    text: `${name} (${prefix}…), ${scope}, last used ${date(last_used_at)}, expires ${date(expires_at)}`,
    action: button(
      'Delete',
      act(again, 'The API key is deleted.', () => call('DELETE', `api-keys/${id}/`)),
      { ariaLabel: `Delete the API key ${name}` },
    ),
  }));
  const shown = element('div');
  const create = form(
    'Create a key',
    [
      field('Name', { name: 'name', required: true, maxLength: 150 }),
      choice('Scope', 'scope', [
        ['read', 'Read'],
        ['write', 'Read and write'],
      ]),
      field('Expires (optional)', { name: 'expires', type: 'date' }),
    ],
    async ({ name, scope, expires }) => {
      const expires_at = expires === '' ? null : new Date(expires).toISOString();
      const reply = await callRecently('POST', 'api-keys/', { name, scope, expires_at });
      if (!reply.ok) return report(reply.message, true);
      report('Copy the key now. It is shown only once.');
      return showStep(
        shown,
        element('pre', { textContent: reply.body.data.key, tabIndex: 0 }),
        button('I have copied it', () => again('')),
      );
    },
  );
  return [list(entries, 'There are none.'), create, shown];
}

async function showIdentities(again) {
  const [{ body }, providers] = [await call('GET', 'identities/'), await call('GET', 'social/')];
  const entries = body.data.map(({ id, provider, created_at }) => ({
    text: `${provider}, linked ${date(created_at)}`,
    action: button(
      'Remove',
      act(again, 'The identity is removed.', () => callRecently('DELETE', `identities/${id}/`)),
      { ariaLabel: `Remove the identity at ${provider}` },
    ),
  }));
  const links = providers.body.data.map(({ name }) =>
    button(`Link ${name}`, async () => {
      const reply = await callRecently('POST', `social/${name}/link/`);
      if (reply.ok) location.assign(reply.body.authorization_url);
      else report(reply.message, true);
    }),
  );
  return [list(entries, 'There are none.'), ...links];
}
