// Logins at a provider: the browser leaves the page, and comes back with a one-time code, or with the token of a second step.

import { call } from '../site/session.js';

/** Only the tab that started a login can complete it (PKCE, RFC 7636). */
const VERIFIER = 'social-login-verifier';

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The providers that are configured; none on a page without HTTPS, where browsers cannot compute a hash. */
export async function listProviders() {
  const reply = crypto.subtle ? await call('GET', 'social/') : { ok: false };
  return reply.ok ? reply.body.data : [];
}

/** @param url of the provider */
export async function startLogin(url) {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  sessionStorage.setItem(VERIFIER, verifier);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  location.assign(`${url}?return=account&code_challenge=${base64url(new Uint8Array(digest))}`);
}

/**
 * Completes a login that this tab has started.
 *
 * @param query of the address
 * @returns the response that a login has, and more fields for its second step; `undefined` if there is no such login
 */
export async function completeLogin(query) {
  const [social_code, mfa_token] = [query.get('code'), query.get('mfa_token')];
  const code_verifier = sessionStorage.getItem(VERIFIER);
  if (code_verifier === null || (social_code === null && mfa_token === null)) return undefined;
  sessionStorage.removeItem(VERIFIER);
  const reply =
    mfa_token === null
      ? await call('POST', 'session/', { social_code, code_verifier })
      : { ok: true, body: { mfa_token } };
  return { reply, proof: { code_verifier } };
}
