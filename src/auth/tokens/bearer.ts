import { isReadable } from './token-codec.js';

interface WithHeaders {
  readonly headers: { readonly authorization?: string | undefined };
}

/** `Bearer`, in any letter case, and the rest of the header (RFC 6750, section 2.1; RFC 9110, section 11.1). */
const BEARER = /^bearer(?: +(.*))?$/is;

/** Whether a request brings a token. Blank is none, and so is another scheme. */
export function hasBearer({ headers: { authorization = '' } }: WithHeaders): boolean {
  return Boolean(BEARER.exec(authorization.trim())?.[1]?.trim());
}

/** The token of a request, `null` where there is none that is worth a look. */
export function bearerToken({ headers: { authorization = '' } }: WithHeaders): string | null {
  const token = BEARER.exec(authorization.trim())?.[1]?.trim();
  return token && isReadable(token) ? token : null;
}
