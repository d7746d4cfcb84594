import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PinoLogger } from 'nestjs-pino';
import type { AppError } from '../errors/errors.js';

interface Rejection {
  readonly requestId?: string;
  /** Headers in addition to those of the error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What is known of the request, for the log. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Sends an error to a request that Fastify does not handle, and closes the connection. */
export function rejectConnection(
  socket: Duplex,
  error: AppError,
  { requestId = randomUUID(), headers = {}, fields = {} }: Rejection = {},
): void {
  const { message } = error;
  const status = error.getStatus();
  const body = JSON.stringify(error.getResponse());
  PinoLogger.root.info({ requestId, ...fields, status, reason: message });
  const allHeaders = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-ID': requestId,
    'Cache-Control': 'no-cache',
    ...error.defaultHeaders,
    ...headers,
    ...error.headers,
    Connection: 'close',
  };
  // A client that does not close its side would keep the connection open.
  socket.once('finish', () => socket.destroy());
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  );
}
