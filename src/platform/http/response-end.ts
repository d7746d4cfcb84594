import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What happens when a connection closes, for each response that has not been sent. */
const callbacks = new WeakMap<Socket, (() => void)[]>();

/**
 * Calls back once the response has been sent, or its connection is closed; at once if that has happened. The `close`
 * event of a response alone is not enough: it may come before the handler is ready, and a response that waits for
 * another one on its connection (pipelining) never has it.
 */
export function onResponseEnd(
  { raw: { socket } }: FastifyRequest,
  { raw }: FastifyReply,
  callback: () => void,
): void {
  if (raw.destroyed || socket.destroyed) {
    callback();
    return;
  }
  const ofSocket = callbacksOf(socket);
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    // Usually the first: the responses of a connection end in the order of their requests.
    const place = ofSocket.indexOf(end);
    if (place !== -1) ofSocket.splice(place, 1);
    callback();
  };
  ofSocket.push(end);
  raw.on('close', end);
  // With those of Nest and Fastify, a stream has more than ten, of which Node would warn as of a leak.
  raw.setMaxListeners(20);
}

/** One listener for all responses of a connection. */
function callbacksOf(socket: Socket): (() => void)[] {
  let known = callbacks.get(socket);
  if (!known) {
    const created: (() => void)[] = [];
    callbacks.set(socket, (known = created));
    socket.once('close', () => {
      for (const end of created.splice(0)) end();
    });
  }
  return known;
}
