import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';

// What the texts of settings must be.

/** An address that a path is appended to. */
const isBaseUrl = (value: string): boolean =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && !/[?#]/.test(value);

/** An address that a path is appended to, without credentials. */
export const isServiceUrl = (value: string): boolean =>
  isBaseUrl(value) && new URL(value).username + new URL(value).password === '';

/** A scheme of its own, which is no other kind of page. */
const APP_ORIGIN = /^(?!(?:about|blob|data|file|ftp|javascript|wss?):)[a-z][a-z\d+.-]*:\/\/[a-z\d.-]+$/;

/** Of web pages, and of hybrid apps, such as `capacitor://localhost`. */
export function isOrigin(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || value.includes('*')) return false;
  return /^https?:$/.test(url.protocol) ? url.origin === value : APP_ORIGIN.test(value);
}

/** Web pages, and apps with a custom scheme. */
export const isTarget = (value: string): boolean =>
  URL.canParse(value) && !/^(javascript|data|blob|file|about):/i.test(value) && !value.includes('#');

/** `10.0.0.1`, `10.0.0.0/8`, `fd00::/8` */
export function isNetwork(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** A private key of ES256 in PEM. */
export function isP256(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

export function isSmtpAddress(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Secrets are sent to login providers: over HTTPS, or within this machine. */
export function isProviderAddress(value: string): boolean {
  const url = URL.parse(value);
  if (url === null) return false;
  const { protocol, hostname, search, hash } = url;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isSafe && search + hash === '';
}

/** Those that the driver knows. It would treat any other like `verify-full`. */
export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Without the user before an empty host, as in `postgres://user@/db?host=/folder`, which the driver takes and `URL` does not. */
export const parsePostgresAddress = (value: string): URL | null =>
  URL.parse(value.replace(/^(postgres(?:ql)?:\/\/)[^/?#]*@(?=\/)/, '$1'));

export function hasKnownSslMode(value: string): boolean {
  const mode = parsePostgresAddress(value)?.searchParams.get('sslmode') ?? undefined;
  return mode === undefined || SSL_MODES.includes(mode);
}

/** User, host and database are required: the driver would guess what is missing, and write the data there. */
export function isPostgresAddress(value: string): boolean {
  const url = parsePostgresAddress(value);
  const [, user] = /^postgres(?:ql)?:\/\/([^/?#]+)@/.exec(value) ?? [];
  if (!url || user === undefined || /^:*$/.test(user)) return false;
  const { hostname, pathname, searchParams } = url;
  try {
    decodeURIComponent(user);
    return (
      (hostname !== '' || searchParams.has('host')) &&
      !/,/.test(hostname + (searchParams.get('host') ?? '')) &&
      decodeURIComponent(pathname).length > 1
    );
  } catch {
    return false;
  }
}
