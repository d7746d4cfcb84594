import { availableParallelism } from 'node:os';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import { networkOf } from './client.js';
import { hasBody } from './methods.js';
import { yieldToEventLoop } from './event-loop.js';
import { appendHook } from './routes.js';
import { WorkQueue } from './work-queue.js';

/** From either size on, a body is large: parsing, checking and storing it blocks the event loop for milliseconds. */
export const LARGE = { bytes: 64 * 1024, items: 1000 };

/** How many requests with a large body are handled at once; each may keep a core of the database busy. */
const CONCURRENCY = Math.max(2, availableParallelism() >> 1);

/** How many requests with a large body may wait; a quarter of these may be of one client. */
const CAPACITY = 64;

/** How long a request with a large body may wait, in milliseconds. */
const PATIENCE = 10_000;

/** How long a handler keeps its place after its client has disconnected, in milliseconds; usually it ends earlier. */
const ABANDONED = 30_000;

/**
 * Keeps requests with large bodies from delaying others: few are handled at a time, clients take turns, and between two
 * of them the event loop serves other connections.
 */
export class LargeBodies {
  private readonly queue = new WorkQueue<'body'>({
    concurrency: CONCURRENCY,
    capacity: CAPACITY,
    patience: PATIENCE,
    full: 'Too many large requests are being processed; retry later',
  });
  /** What ends the handling of a request. */
  private readonly ends = new Map<FastifyRequest, () => void>();

  constructor(registry: Registry) {
    const { queue } = this;
    const registers = [registry];
    new Gauge({
      name: 'http_server_large_bodies_running',
      help: 'Requests with a large body that are being handled',
      registers,
      collect() {
        this.set(queue.runningCount);
      },
    });
    new Gauge({
      name: 'http_server_large_bodies_waiting',
      help: 'Requests with a large body that wait for others',
      registers,
      collect() {
        this.set(queue.waitingCount('body'));
      },
    });
    new Gauge({
      name: 'http_server_large_bodies_capacity',
      help: 'Requests with a large body that may wait',
      registers,
    }).set(CAPACITY);
  }

  /**
   * Adds hooks to a route with bodies: handling ends before the response is sent, which the client may
   * read late, or which may wait behind a stream of events.
   */
  release(route: RouteOptions): void {
    if (!hasBody(route)) return;
    appendHook(route, 'onSend', (request, _reply, payload, done) => {
      this.ends.get(request)?.();
      done(null, payload);
    });
    appendHook(route, 'onResponse', (request, _reply, done) => {
      this.ends.get(request)?.();
      done();
    });
  }

  /**
   * Waits until the large body of a request may be handled: forever, if the client disconnects.
   *
   * @throws AppError `SERVICE_UNAVAILABLE` when too many are waiting, of the client or in all, or for too long
   */
  acquire(request: FastifyRequest): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { socket } = request.raw;
    const left = new AbortController();
    const leave = () => left.abort();
    socket.once('close', leave);
    if (socket.destroyed) leave();
    const client = networkOf(request.context.client.address);
    this.queue
      .run('body', client, () => this.handle(request, resolve, left.signal), left.signal)
      .catch((error: unknown) => left.signal.aborted || reject(error))
      .finally(() => socket.off('close', leave));
    return promise;
  }

  /** Takes place until the handler of the request ends. */
  private async handle(request: FastifyRequest, begin: () => void, left: AbortSignal): Promise<void> {
    await yieldToEventLoop();
    if (left.aborted) return;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.ends.set(request, end);
    let timer: NodeJS.Timeout | undefined;
    // Its handler goes on: clients that disconnect would otherwise start any number of them.
    left.addEventListener('abort', () => (timer = setTimeout(end, ABANDONED).unref()));
    begin();
    await promise;
    // The timer would keep the body in memory.
    clearTimeout(timer);
    this.ends.delete(request);
  }
}
