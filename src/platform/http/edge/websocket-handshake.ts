import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config.js';
import { AppError } from '../errors/errors.js';

/** 16 bytes in base64. */
const KEY = /^[+/\dA-Za-z]{22}==$/;

/** The versions that `ws` supports. */
const VERSIONS = ['13', '8'];

const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;

/**
 * Checks a handshake (RFC 6455, section 4.2.1) like `ws`, which would reject it without the envelope and the request id.
 *
 * @throws AppError `METHOD_NOT_ALLOWED`, `MALFORMED_REQUEST`
 */
export function checkHandshake({ method, headers }: IncomingMessage): void {
  if (method !== 'GET') {
    const options = { headers: { allow: 'GET' } };
    throw new AppError('METHOD_NOT_ALLOWED', 'A WebSocket is opened by GET', options);
  }
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) {
    throw new AppError('MALFORMED_REQUEST', 'Sec-WebSocket-Key must be 16 bytes in base64');
  }
  if (!VERSIONS.includes(headers['sec-websocket-version'] ?? '')) {
    throw new AppError('MALFORMED_REQUEST', `Sec-WebSocket-Version must be ${VERSIONS[0]}`, {
      headers: { 'sec-websocket-version': VERSIONS.join(', ') },
    });
  }
  const protocols = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  if (!protocols.every((name) => TOKEN.test(name)) || new Set(protocols).size < protocols.length) {
    throw new AppError('MALFORMED_REQUEST', 'Sec-WebSocket-Protocol must be a list of different names');
  }
}

/**
 * Rejects pages of other origins than the service's own and those of `CORS_ORIGINS`, if that is a list: browsers
 * apply CORS to no WebSocket. Other clients send no `Origin`.
 *
 * @throws AppError `FORBIDDEN`
 */
export function checkOrigin({ headers }: IncomingMessage, { corsOrigins, publicUrl }: Config): void {
  const { origin, host } = headers;
  if (origin === undefined || corsOrigins === '*') return;
  const page = URL.parse(origin);
  // Parsed like the origin, because a proxy may write the default port and upper case letters.
  const isOwn =
    page !== null &&
    /^https?:$/.test(page.protocol) &&
    page.host === URL.parse(`${page.protocol}//${host}`)?.host;
  if (isOwn || origin === new URL(publicUrl).origin || corsOrigins.includes(origin)) return;
  throw new AppError('FORBIDDEN', 'Pages of this origin may not open WebSockets; add it to CORS_ORIGINS');
}
