// Calls that need a recent login.

import { codeField } from '../site/login.js';
import { call } from '../site/session.js';

/** The address of this page: without a slash at its end, the browser would resolve `./` to the start page. */
export const ACCOUNT_PAGE = new URL('./', import.meta.url).href;

/**
 * Like `call()`; if the login is too old, it asks for the password, and for a code while two-step login is on, and repeats
 * the call with them.
 */
export async function callRecently(method, path, body = {}) {
  const first = await call(method, path, body);
  if (first.status !== 403 || !/5 minutes/.test(first.message)) return first;
  const factors = await call('GET', 'mfa/');
  const proof = await askForProof(body.code === undefined && factors.body?.data.totp === true);
  return proof === null
    ? { ...first, message: 'Nothing was changed.' }
    : call(method, path, { ...body, ...proof });
}

/** @returns `null` if the person cancels */
function askForProof(needsCode) {
  const dialog = document.getElementById('confirm');
  const password = document.getElementById('confirm-password');
  const place = document.getElementById('confirm-code');
  password.value = '';
  place.replaceChildren(...(needsCode ? [codeField()] : []));
  dialog.returnValue = 'cancel';
  dialog.showModal();
  const proof = () => {
    const code = place.querySelector('input')?.value;
    return { password: password.value, ...(code !== undefined && { code }) };
  };
  return new Promise((resolve) =>
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'go' ? proof() : null), {
      once: true,
    }),
  );
}
