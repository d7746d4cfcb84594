import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyReply, onSendHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Gauge, type Registry } from 'prom-client';
import { AppError } from '../errors/errors.js';
import { onResponseEnd } from '../response-end.js';
import { networkOf } from '../client.js';
import { isSafe } from '../methods.js';
import { appendHook } from '../routes.js';
import { Counts } from '../edge/connection-limit.js';

/** 256 MiB: the memory of all responses that clients have not read yet, in bytes. */
const BUDGET = 256 * 1024 * 1024;

/** Clients that hold at least 32 MiB, in bytes, leave half of the budget to others. */
const SHARE = BUDGET / 8;

/** Shorter responses are not counted: a connection itself takes more memory. */
const LARGE = 64 * 1024;

/** How long a client may read no byte of a large response, in milliseconds. Node may notice it that much later. */
const STALL = 30_000;

/** The memory of a response that is streamed in parts, in bytes, unless its `Content-Length` is less. */
const STREAM = 16 * 1024 * 1024;

/**
 * Limits the memory of responses that clients read slowly, of each client and together, and disconnects clients that do
 * not read. Above the limit, responses become 503, except for changes that have been made. A stream of events has its
 * own limit.
 */
export const largeResponses = fastifyPlugin<{ registry: Registry }>(
  (fastify, { registry }, done) => {
    const held = new Counts();
    let total = 0;
    new Gauge({
      name: 'http_server_held_response_bytes',
      help: 'Size of the large responses that are being sent',
      registers: [registry],
      collect() {
        this.set(total);
      },
    });
    new Gauge({
      name: 'http_server_held_response_max_bytes',
      help: 'Size that they may have together',
      registers: [registry],
    }).set(BUDGET);

    const bound: onSendHookHandler = (request, reply, payload, next) => {
      const bytes = bytesOf(payload, reply);
      if (bytes < LARGE) {
        next(null, payload);
        return;
      }
      const client = networkOf(request.context.client.address);
      const limit = held.of(client) < SHARE ? BUDGET : BUDGET / 2;
      if (total + bytes > limit && (isSafe(request) || request.context.isQuery)) {
        if (isStream(payload)) payload.destroy();
        next(new AppError('SERVICE_UNAVAILABLE', 'Too many large responses are being sent; retry later'));
        return;
      }
      const count = (change: number) => {
        total += change;
        held.add(client, change);
      };
      count(bytes);
      onResponseEnd(request, reply, () => count(-bytes));
      disconnectWhenStalled(reply.raw);
      // Node would copy a text to write it, and the copy does not count for the garbage collector.
      next(null, typeof payload === 'string' ? Buffer.from(payload) : payload);
    };

    fastify.addHook('onRoute', (route) => {
      if (!route.config?.eventStream) appendHook(route, 'onSend', bound);
    });
    done();
  },
  // It turns text into bytes, which cannot be stored: the response is stored before.
  { name: 'large responses', dependencies: ['keyed responses'] },
);

function disconnectWhenStalled(response: ServerResponse): void {
  const { socket } = response;
  // Injected requests have no socket.
  if (!(socket instanceof Socket)) return;
  // Bytes that the client sends would count as activity of the connection.
  socket.pause();
  response.once('finish', () => socket.resume());
  // If no bytes wait, the handler's own source is slow, not the client.
  response.setTimeout(STALL, () => response.writableLength > 0 && response.destroy());
}

function bytesOf(payload: unknown, reply: FastifyReply): number {
  if (typeof payload === 'string') {
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    return payload.length * 3 < LARGE ? 0 : Buffer.byteLength(payload);
  }
  if (Buffer.isBuffer(payload)) return payload.length;
  return isStream(payload) ? Math.min(STREAM, Number(reply.getHeader('content-length') ?? STREAM)) : 0;
}

const isStream = (payload: unknown): payload is Readable =>
  typeof payload === 'object' && payload !== null && 'pipe' in payload;
