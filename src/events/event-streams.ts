import { Readable } from 'node:stream';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  StreamableFile,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CredentialWatch } from '../auth/access/index.js';
import { clientOf } from '../common/request/client.js';
import { ConsumerLimits } from './consumer-limits.js';
import type { ReadEvents } from './event-feed.js';
import { EventLog } from './event-log.js';
import { EventStore } from './event-store.js';
import { EventStream } from './event-stream.js';

/** Between two comments on a connection that is idle, in milliseconds. */
const KEEP_ALIVE = 10_000;

/** The open streams of the process. They end when it drains, and clients connect to another. */
@Injectable()
export class EventStreams implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly streams = new Set<EventStream>();
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly store: EventStore,
    private readonly log: EventLog,
    private readonly limits: ConsumerLimits,
    private readonly credentials: CredentialWatch,
  ) {}

  /** How many there are. */
  get size(): number {
    return this.streams.size;
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      for (const stream of this.streams) stream.keepAlive();
    }, KEEP_ALIVE).unref();
  }

  /** Comes before the HTTP server is closed, which waits for all responses. */
  onModuleDestroy(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const stream of this.streams) stream.end();
  }

  /**
   * Begins a stream, after the event or with the next one.
   *
   * @throws AppError `INVALID_CURSOR`, `EVENTS_EXPIRED`, `SERVICE_UNAVAILABLE`, before anything is sent
   */
  async open(
    request: FastifyRequest,
    { filter, after }: Pick<ReadEvents, 'filter' | 'after'>,
  ): Promise<StreamableFile> {
    const position = after ? await this.store.locate(after) : await this.log.catchUp();
    await this.log.findHead();
    // Fastify reads the body of a HEAD to its end, and sends nothing of it.
    if (request.method === 'HEAD') return toFile(Readable.from([]));
    const leave = this.limits.enter(clientOf(request).address);
    const stream = new EventStream(position, filter, this.store, this.log);
    const unfollow = this.log.follow({
      accept: (batch) => stream.accept(batch),
      fail: () => stream.destroy(),
    });
    // The client connects again, and is rejected or sees less.
    const unwatch = this.credentials.watch(request, () => stream.end());
    this.streams.add(stream);
    // A client that has gone before the stream is sent is noticed by nobody else.
    const { socket } = request.raw;
    const disconnect = (): unknown => stream.destroy();
    socket.once('close', disconnect);
    stream.once('close', () => {
      socket.off('close', disconnect);
      // Of a client that has closed its half, the other one would stay open.
      if (!stream.readableEnded) socket.destroy();
      this.streams.delete(stream);
      unfollow();
      unwatch();
      leave();
    });
    if (socket.destroyed) stream.destroy();
    if (this.isClosed) stream.end();
    return toFile(stream);
  }
}

const toFile = (body: Readable): StreamableFile => new StreamableFile(body, { type: 'text/event-stream' });
