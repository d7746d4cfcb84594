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

/** What a login at a provider has brought back. */
export interface Returned {
  readonly login: { social_code: string } | { mfa_token: string };
  readonly code_verifier: string;
  /** The address at which the login began. */
  readonly place: string;
}

/** Takes what the address has of a login that this tab has started; `undefined` if there is none. */
export function takeReturned(query: URLSearchParams): Returned | undefined {
  const [social_code, mfa_token] = [query.get('code'), query.get('mfa_token')];
  const code_verifier = sessionStorage.getItem(VERIFIER);
  const place = sessionStorage.getItem(PLACE) ?? location.pathname;
  if (code_verifier === null || (social_code === null && mfa_token === null)) return undefined;
  sessionStorage.removeItem(VERIFIER);
  sessionStorage.removeItem(PLACE);
  return { login: mfa_token === null ? { social_code: social_code! } : { mfa_token }, code_verifier, place };
}
