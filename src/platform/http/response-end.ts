import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What is known of a connection. */
interface Exchanges {
  /** The request that arrived last, which may be incomplete. */
  last: { readonly request: IncomingMessage; readonly response: ServerResponse };
  /** What happens when a response ends, for each one that has not been sent. */
  readonly callbacks: { readonly response: ServerResponse; readonly end: () => void }[];
  /** Whether it ends after a pending response, because what follows is no request. */
  isEnding: boolean;
}

const connections = new WeakMap<Socket, Exchanges>();

/** `undefined` before the first request of a connection. */
export const exchangesOn = (socket: Socket): Exchanges | undefined => connections.get(socket);

/**
 * Calls back once the response has been sent, or its connection is closed; at once if that has happened. The `close`
 * event of a response alone is not enough: it may come before the handler is ready, and a response that waits for
 * another one on its connection (pipelining) never has it.
 */
export function onResponseEnd(
  { raw: request }: FastifyRequest,
  { raw: response }: FastifyReply,
  callback: () => void,
): void {
  const { socket } = request;
  if (response.destroyed || socket.destroyed) {
    callback();
    return;
  }
  const { callbacks } = connectionOf(socket, { request, response });
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    // Usually the first: the responses of a connection end in the order of their requests.
    const place = callbacks.findIndex((each) => each.end === end);
    if (place !== -1) callbacks.splice(place, 1);
    callback();
  };
  callbacks.push({ response, end });
  response.on('close', end);
  // With those of Nest and Fastify, a stream has more than ten, of which Node would warn as of a leak.
  response.setMaxListeners(20);
}

/** One listener for all responses of a connection. */
function connectionOf(socket: Socket, last: Exchanges['last']): Exchanges {
  const existing = connections.get(socket);
  if (existing) {
    // A response that is pending is known: it may be that of an earlier request.
    if (existing.callbacks.every(({ response }) => response !== last.response)) existing.last = last;
    return existing;
  }
  const created: Exchanges = { last, callbacks: [], isEnding: false };
  connections.set(socket, created);
  socket.once('close', () => {
    for (const { end } of created.callbacks.splice(0)) end();
  });
  return created;
}
