import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What happens when a response ends, for each one of a connection that has not been sent. */
const pending = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once the response has been sent, or its connection is closed; at once if that has happened. The `close`
 * event of a response alone is not enough: it may come before the handler is ready, and a response that waits for
 * another one on its connection (pipelining) never has it.
 */
export function onResponseEnd(
  { raw: { socket } }: FastifyRequest,
  { raw: response }: FastifyReply,
  callback: () => void,
): void {
  if (response.destroyed || socket.destroyed) {
    callback();
    return;
  }
  const callbacks = callbacksOf(socket);
  const end = () => {
    if (callbacks.delete(end)) callback();
  };
  callbacks.add(end);
  response.on('close', end);
  // With those of Nest and Fastify, a stream has more than ten, of which Node would warn as of a leak.
  response.setMaxListeners(20);
}

/** One listener for all responses of a connection. */
function callbacksOf(socket: Socket): Set<() => void> {
  let callbacks = pending.get(socket);
  if (!callbacks) {
    const created = new Set<() => void>();
    pending.set(socket, created);
    socket.once('close', () => {
      for (const end of created) end();
    });
    callbacks = created;
  }
  return callbacks;
}
