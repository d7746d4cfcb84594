import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What happens when a response ends. */
const callbacks = new WeakMap<ServerResponse, (() => void)[]>();

/** What ends the responses of a connection that have not been sent, in the order of their requests. */
const endsOfConnections = new WeakMap<Socket, Set<() => void>>();

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
  const known = callbacks.get(raw);
  if (known) known.push(callback);
  else watch(raw, socket, [callback]);
}

/** One listener for all callbacks. */
function watch(response: ServerResponse, socket: Socket, ofResponse: (() => void)[]): void {
  callbacks.set(response, ofResponse);
  const ends = endsOf(socket);
  const end = () => {
    if (!ends.delete(end)) return;
    for (const callback of ofResponse) callback();
  };
  ends.add(end);
  response.once('close', end);
  // Nest and Fastify add up to ten for a stream; of more than ten, Node would warn as of a leak.
  response.setMaxListeners(20);
}

/** One listener for all responses of a connection. */
function endsOf(socket: Socket): Set<() => void> {
  let known = endsOfConnections.get(socket);
  if (!known) {
    const created = new Set<() => void>();
    endsOfConnections.set(socket, (known = created));
    socket.once('close', () => {
      for (const end of created) end();
    });
  }
  return known;
}
