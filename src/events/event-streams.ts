import { Readable } from 'node:stream';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  StreamableFile,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CredentialWatch } from '../auth/access/index.js';
import { clientOf } from '../common/http/client.js';
import { ConsumerLimits } from './consumer-limits.js';
import type { ReadEvents } from './event-feed.js';
import { EventLog } from './event-log.js';
import { EventStore } from './event-store.js';
import { EventStream } from './event-stream.js';

/** The interval of comments on an idle connection, in milliseconds. */
const KEEP_ALIVE = 10_000;

/** The open streams of the process. They end when it drains, and clients reconnect to another process. */
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

  /** The number of open streams. */
  get size(): number {
    return this.streams.size;
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      for (const stream of this.streams) stream.keepAlive();
    }, KEEP_ALIVE).unref();
  }

  /** Runs before the HTTP server is closed, which waits for all responses. */
  onModuleDestroy(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const stream of this.streams) stream.end();
  }

  /**
   * Opens a stream, after the given event or with the next one.
   *
   * @throws AppError `INVALID_CURSOR`, `EVENTS_EXPIRED`, `SERVICE_UNAVAILABLE`, before anything is sent
   */
  async open(
    request: FastifyRequest,
    { filter, after }: Pick<ReadEvents, 'filter' | 'after'>,
  ): Promise<StreamableFile> {
    const position = after ? await this.store.locate(after) : await this.log.catchUp();
    await this.log.findHead();
    // For HEAD, Fastify would read the whole body and send nothing.
    if (request.method === 'HEAD') return toFile(Readable.from([]));
    const leave = this.limits.enter(clientOf(request).address);
    const stream = new EventStream(position, filter, this.store, this.log);
    const unfollow = this.log.follow({
      accept: (batch) => stream.accept(batch),
      fail: () => stream.destroy(),
    });
    // The client reconnects, and is rejected or gets fewer events.
    const unwatch = this.credentials.watch(request, () => stream.end());
    this.streams.add(stream);
    // Nothing else notices a client that disconnects before the stream is sent.
    const { socket } = request.raw;
    const disconnect = (): unknown => stream.destroy();
    socket.once('close', disconnect);
    // Without the last chunk, because clients that read with `fetch` would take it for the end of all events.
    stream.once('end', () => socket.destroySoon());
    stream.once('close', () => {
      socket.off('close', disconnect);
      // If the client has closed its side only, the socket would stay open.
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
