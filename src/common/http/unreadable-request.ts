import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { toEnvelope } from '../errors/envelope.js';
import { AppError } from '../errors/errors.js';

/** Why Node could not read a request, in words for the client; keyed by Node's error code. */
const REASONS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/** Answers bytes that are no HTTP request: they reach no route, so the reply is written by hand. */
export function answerUnreadableRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const reason = REASONS[error.code ?? ''] ?? 'The request is not well-formed HTTP';
  const body = JSON.stringify(toEnvelope(new AppError('MALFORMED_REQUEST', reason)));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-ID: ${randomUUID()}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
