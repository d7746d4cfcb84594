// The right end of the header: who is logged in, and the login.

import { button, element } from './elements.js';
import { showLogin } from './login.js';
import { logOut, restored, session } from './session.js';

const place = document.getElementById('session');
/** The address of the account page; absent if a front end has one instead. */
const accountPage = place.dataset.account;
/** The account page has a login of its own. */
const isAccountPage = document.getElementById('account') !== null;

function show() {
  const { account } = session;
  if (account) {
    const name = account.name || account.email;
    const who = accountPage
      ? element('a', { href: accountPage, title: account.email }, name)
      : element('span', { title: account.email }, name);
    who.prepend(element('span', { className: 'visually-hidden', textContent: 'Logged in as ' }));
    place.replaceChildren(who, ...(isAccountPage ? [] : [button('Log out', endSession, { id: 'logout' })]));
  } else if (isAccountPage) place.replaceChildren();
  else place.replaceChildren(button('Log in', openLogin, { id: 'login', className: 'button' }));
}

async function endSession() {
  const reply = await logOut();
  if (reply.ok) return;
  place.append(element('span', { className: 'message error', role: 'alert', textContent: reply.message }));
}

function openLogin() {
  const message = element('p', { id: 'login-state', className: 'message', role: 'alert' });
  const body = element('div');
  const title = element('h2', { id: 'login-title', textContent: 'Log in' });
  const close = button('Close', () => dialog.close(), { className: 'button plain close' });
  const dialog = element('dialog', { className: 'dialog login' }, title, message, body, close);
  dialog.setAttribute('aria-labelledby', 'login-title');
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  const report = (text, isError = false) => {
    message.textContent = text;
    message.classList.toggle('error', isError);
  };
  const help =
    accountPage && element('a', { href: accountPage, textContent: 'Forgot your password, or no account?' });
  dialog.showModal();
  showLogin(body, report, () => dialog.close(), help);
}

session.addEventListener('change', show);
await restored;
show();
