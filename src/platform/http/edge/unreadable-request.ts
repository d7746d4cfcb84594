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
 * place of another one: while other responses are pending, the connection is closed.
 */
export function handleUnreadableRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (isOfParser(error) && socket.writable && isNextInTurn(socket)) {
    const reason = REASONS[error.code ?? ''] ?? 'The request is not well-formed HTTP';
    rejectConnection(socket, new AppError('MALFORMED_REQUEST', reason));
  } else socket.destroy();
}

/** Of the bytes of a request, or of their absence. */
const isOfParser = ({ code = '' }: NodeJS.ErrnoException): boolean => /^(?:HPE|ERR_HTTP)_/.test(code);

/** Whether the next response that the client expects is that to the unreadable request. */
function isNextInTurn(socket: Socket): boolean {
  const exchanges = exchangesOn(socket);
  // A browser opens connections in advance: it would take the error as the response to its first request.
  if (!exchanges) return socket.bytesRead > 0;
  const { last, callbacks } = exchanges;
  if (last.request.complete) return callbacks.length === 0;
  return !last.response.headersSent && callbacks.every(({ response }) => response === last.response);
}
