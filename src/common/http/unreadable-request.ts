import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors/errors.js';
import { rejectConnection } from './reject-connection.js';

/** Why Node could not read a request, in words for the client; keyed by Node's error code. */
const REASONS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
};

/** What Node keeps on a connection: the response that it owes, and the request that is arriving. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
}

/**
 * Responses bytes that are no HTTP request. They reach no route, so the reply is written by hand; and never
 * in the place of another: responses that are still owed go first, and none is given twice.
 */
export function handleUnreadableRequest(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  const { _httpMessage: owed, parser } = socket;
  const respondedEarly = !owed && parser?.incoming?.complete === false;
  if (owed?.req.complete) {
    owed.once('close', () => {
      // Requests that came before may wait for their turn (pipelining, RFC 9112, section 9.3.2).
      const { _httpMessage: next } = socket;
      if (next) handleUnreadableRequest(error, socket);
      else socket.destroy();
    });
  } else if (error.code === 'ECONNRESET' || !socket.writable || owed?.headersSent || respondedEarly) {
    socket.destroy();
  } else {
    reject(socket, REASONS[error.code ?? ''] ?? 'The request is not well-formed HTTP');
  }
}

/** What Node would respond to by itself. */
export function handleOddRequests({ server }: FastifyInstance): void {
  // Expectations other than 100-continue may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has let go of it: the error of a client that has left would end the process.
    socket.on('error', () => undefined);
    reject(socket, 'This is not a proxy');
  });
}

const reject = (socket: Socket, reason: string): void =>
  rejectConnection(socket, new AppError('MALFORMED_REQUEST', reason));
