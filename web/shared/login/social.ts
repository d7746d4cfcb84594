import { api, read, type Schemas } from '../api.js';

/** Only the tab that started a login can complete it (PKCE, RFC 7636). */
const VERIFIER = 'social-login-verifier';
/** Where the person was. */
const PLACE = 'social-login-place';

const NAMES: Readonly<Record<string, string>> = { google: 'Google', github: 'GitHub' };
export const nameOfProvider = (name: string): string => NAMES[name] ?? name;

const base64url = (bytes: Uint8Array<ArrayBuffer>) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The providers that are configured; none on a page without HTTPS, where browsers cannot compute a hash. */
export const listProviders = async (): Promise<Schemas['Provider'][]> =>
  crypto.subtle ? (await read(api.GET('/auth/social/'))).data : [];

/** Leaves the page for the login at a provider, which comes back to the account page. */
export async function startLogin({ url }: Schemas['Provider']): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  sessionStorage.setItem(VERIFIER, verifier);
  sessionStorage.setItem(PLACE, location.href);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  location.assign(`${url}?return=account&code_challenge=${base64url(new Uint8Array(digest))}`);
}

/** Leaves the page to link an identity. @param url at the provider, which comes back to the account page */
export function leaveToLink(url: string): void {
  sessionStorage.removeItem(VERIFIER);
  sessionStorage.setItem(PLACE, location.href);
  location.assign(url);
}

/** What a login at a provider has brought back, or the link of an identity. */
export interface Returned {
  /** The address at which it began. */
  readonly place: string;
  readonly login?: ({ social_code: string } | { mfa_token: string }) & { code_verifier: string };
  /** The provider whose identity was linked. */
  readonly linked?: string;
  /** Why there is neither, in a sentence. */
  readonly failure?: string;
}

/** Takes what the address has of a login or a link that this tab has started; `undefined` if there is none. */
export function takeReturned(query: URLSearchParams): Returned | undefined {
  const place = sessionStorage.getItem(PLACE);
  const code_verifier = sessionStorage.getItem(VERIFIER);
  const [social_code, mfa_token] = [query.get('code'), query.get('mfa_token')];
  const [error, linked] = [query.get('error'), query.get('linked')];
  if (place === null || (social_code ?? mfa_token ?? error ?? linked) === null) return undefined;
  sessionStorage.removeItem(VERIFIER);
  sessionStorage.removeItem(PLACE);
  if (error !== null) return { place, failure: failureOf(error, code_verifier !== null) };
  if (linked !== null) return { place, linked };
  if (code_verifier === null) return undefined;
  if (mfa_token !== null) return { place, login: { mfa_token, code_verifier } };
  return { place, login: { social_code: social_code!, code_verifier } };
}

/** The address may come from anybody: only its code is read. */
function failureOf(code: string, isLogin: boolean): string {
  const words = isLogin ? LOGIN_FAILURES : LINK_FAILURES;
  return words[code] ?? FAILURES[code] ?? 'The provider did not confirm the login. Try again in a moment.';
}

const FAILURES: Readonly<Record<string, string>> = {
  MALFORMED_REQUEST: 'The login took too long, or was finished in another tab. Start again.',
  SERVICE_UNAVAILABLE: 'The provider cannot be used at the moment. Try again later.',
};
const LOGIN_FAILURES: Readonly<Record<string, string>> = {
  CONFLICT:
    'An account with your e-mail address exists. Log in to it, confirm its address, and link the identity there.',
  FORBIDDEN: 'This service does not accept new accounts.',
  VALIDATION_ERROR: 'The provider did not return an e-mail address of yours.',
};
const LINK_FAILURES: Readonly<Record<string, string>> = {
  CONFLICT: 'This identity is linked to another account. Remove it there first.',
  FORBIDDEN: 'Confirm your e-mail address before you link an identity.',
};
