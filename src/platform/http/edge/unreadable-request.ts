import type { Socket } from 'node:net';
import { AppError } from '../errors/errors.js';
import { exchangesOn } from '../response-end.js';
import { rejectConnection } from './reject-connection.js';

/** Messages for clients whose request Node cannot parse, by Node's error code. */
const REASONS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/**
 * Responds to bytes that are no HTTP request. They reach no route, so the response is written to the socket; never in
 * place of another one: pending responses are sent first (pipelining, RFC 9112, section 9.3.2), and none is sent twice.
 */
export function handleUnreadableRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  const exchanges = exchangesOn(socket);
  // Otherwise the bytes are of the body of the last request.
  const isLastComplete = exchanges?.last.request.complete ?? true;
  const hasResponded = !isLastComplete && exchanges?.last.response.headersSent;
  // A browser opens connections in advance: it would take the error as the response to its first request.
  const isUnused = socket.bytesRead === 0;
  if (!isOfParser(error) || !socket.writable || isUnused || hasResponded) {
    socket.destroy();
    return;
  }
  const earlier = exchanges?.callbacks.findLast(
    ({ response }) => isLastComplete || response !== exchanges.last.response,
  );
  if (!earlier) {
    const reason = REASONS[error.code ?? ''] ?? 'The request is not well-formed HTTP';
    rejectConnection(socket, new AppError('MALFORMED_REQUEST', reason));
    return;
  }
  // A request that stays incomplete causes an error each second.
  if (exchanges!.isEnding) return;
  exchanges!.isEnding = true;
  earlier.response.once('close', () => {
    exchanges!.isEnding = false;
    if (isLastComplete) socket.destroy();
    else handleUnreadableRequest(error, socket);
  });
}

/** Of the bytes of a request, or of their absence. */
const isOfParser = ({ code = '' }: NodeJS.ErrnoException): boolean => /^(?:HPE|ERR_HTTP)_/.test(code);
