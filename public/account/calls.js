// Calls that need a recent login.

import { call } from '../site/session.js';

/** The address of this page: without a slash at its end, the browser would resolve `./` to the start page. */
export const ACCOUNT_PAGE = new URL('./', import.meta.url).href;

/** Like `call()`; if the login is too old, it asks for the password, and repeats the call with it. */
export async function callRecently(method, path, body = {}) {
  const first = await call(method, path, body);
  if (first.status !== 403 || !/5 minutes/.test(first.message)) return first;
  const password = await askForPassword();
  return password === null
    ? { ...first, message: 'Nothing was changed.' }
    : call(method, path, { ...body, password });
}

/** @returns `null` if the person cancels */
function askForPassword() {
  const dialog = document.getElementById('confirm');
  const input = document.getElementById('confirm-password');
  input.value = '';
  dialog.returnValue = 'cancel';
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'go' ? input.value : null), {
      once: true,
    }),
  );
}
