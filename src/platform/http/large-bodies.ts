import { availableParallelism } from 'node:os';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import { AppError } from './errors/errors.js';
import { networkOf } from './client.js';
import { hasBody } from './methods.js';
import { yieldToEventLoop } from './event-loop.js';
import { appendHook } from './routes.js';

/** From either size on, a body is large: parsing, checking and storing it blocks the event loop for milliseconds. */
export const LARGE = { bytes: 64 * 1024, items: 1000 };

/** How many requests with a large body are handled at once; each may keep a core of the database busy. */
const CONCURRENCY = Math.max(2, availableParallelism() >> 1);

/** How many requests with a large body may wait; their bodies are in memory. */
const CAPACITY = 64;

/** How many of these may be of one client. */
const SHARE = CAPACITY / 2;

/** How long a handler keeps its place after its client has disconnected, in milliseconds; usually it ends earlier. */
const ABANDONED = 30_000;

interface Waiting {
  readonly request: FastifyRequest;
  readonly client: string;
  readonly begin: () => void;
}

/**
 * Keeps requests with large bodies from delaying others: few are handled at a time, and between two of them the
 * event loop serves other connections.
 */
export class LargeBodies {
  private readonly waiting: Waiting[] = [];
  private readonly running = new Set<FastifyRequest>();
  private readonly departures = new Map<FastifyRequest, () => void>();
  private isScheduled = false;

  constructor(registry: Registry) {
    const { running, waiting } = this;
    const registers = [registry];
    new Gauge({
      name: 'http_server_large_bodies_running',
      help: 'Requests with a large body that are being handled',
      registers,
      collect() {
        this.set(running.size);
      },
    });
    new Gauge({
      name: 'http_server_large_bodies_waiting',
      help: 'Requests with a large body that wait for others',
      registers,
      collect() {
        this.set(waiting.length);
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
      this.end(request);
      done(null, payload);
    });
    appendHook(route, 'onResponse', (request, _reply, done) => {
      this.end(request);
      done();
    });
  }

  /**
   * Waits until the large body of a request may be handled: forever, if the client disconnects.
   *
   * @throws AppError `SERVICE_UNAVAILABLE` when too many are waiting, of the client or in all
   */
  acquire(request: FastifyRequest): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const client = networkOf(request.context.client.address);
    const own = this.waiting.filter((other) => other.client === client).length;
    if (this.waiting.length >= CAPACITY || own >= SHARE) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many large requests are being processed; retry later');
    }
    const { socket } = request.raw;
    if (socket.destroyed) return promise;
    this.waiting.push({ request, client, begin: resolve });
    let timer: NodeJS.Timeout | undefined;
    const onClose = () => {
      // Its handler goes on: clients that disconnect would otherwise start any number of them.
      if (this.running.has(request)) timer = setTimeout(() => this.end(request), ABANDONED).unref();
      else this.end(request);
    };
    this.departures.set(request, () => {
      socket.off('close', onClose);
      // The timer would keep the body in memory.
      clearTimeout(timer);
    });
    socket.once('close', onClose);
    this.schedule();
    return promise;
  }

  private end(request: FastifyRequest): void {
    const forget = this.departures.get(request);
    if (!forget) return;
    this.departures.delete(request);
    forget();
    if (this.running.delete(request)) {
      this.schedule();
      return;
    }
    const place = this.waiting.findIndex((other) => other.request === request);
    if (place >= 0) this.waiting.splice(place, 1);
  }

  private schedule(): void {
    if (this.isScheduled || this.waiting.length === 0 || this.running.size >= CONCURRENCY) return;
    this.isScheduled = true;
    void this.beginNext();
  }

  private async beginNext(): Promise<void> {
    await yieldToEventLoop();
    this.isScheduled = false;
    const next = this.waiting.shift();
    if (!next) return;
    this.running.add(next.request);
    this.schedule();
    next.begin();
  }
}
