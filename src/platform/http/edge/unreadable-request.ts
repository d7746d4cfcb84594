import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../errors/errors.js';
import { rejectConnection } from './reject-connection.js';

/** Messages for clients whose request Node cannot parse, by Node's error code. */
const REASONS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/** Connections that are closed once their pending responses have been sent. */
const ending = new WeakSet<Socket>();

/** Node's state of a connection: the pending response, and the request that is being received. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
}

/**
 * Responds to bytes that are no HTTP request. They reach no route, so the response is written to the socket; never
 * in place of another one: pending responses are sent first, and none is sent twice.
 */
export function handleUnreadableRequest(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  const { _httpMessage: owed, parser } = socket;
  const respondedEarly = !owed && parser?.incoming?.complete === false;
  // A browser opens connections in advance: it would take the error as the response to its first request.
  const isUnused = socket.bytesRead === 0;
  if (!isOfParser(error) || !socket.writable || isUnused) {
    // If the connection is lost, an error comes for each write that is still pending.
    socket.destroy();
  } else if (owed?.req.complete) {
    if (ending.has(socket)) return;
    ending.add(socket);
    owed.once('close', () => {
      ending.delete(socket);
      // Earlier requests may be waiting for their turn (pipelining, RFC 9112, section 9.3.2).
      const { _httpMessage: next } = socket;
      if (next) handleUnreadableRequest(error, socket);
      else socket.destroy();
    });
  } else if (owed?.headersSent || respondedEarly) {
    socket.destroy();
  } else {
    reject(socket, REASONS[error.code ?? ''] ?? 'The request is not well-formed HTTP');
  }
}

/** Of the bytes of a request, or of their absence. */
const isOfParser = ({ code = '' }: NodeJS.ErrnoException): boolean => /^(?:HPE|ERR_HTTP)_/.test(code);

const reject = (socket: Socket, reason: string): void =>
  rejectConnection(socket, new AppError('MALFORMED_REQUEST', reason));
