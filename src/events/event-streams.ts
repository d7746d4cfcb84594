import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { ReadEvents } from './event-feed.js';
import { EventLog } from '../platform/changes/event-log.js';
import { EventStore } from '../platform/changes/event-store.js';
import { BackgroundTasks } from '../platform/jobs/background-task.js';
import { EventStream } from './event-stream.js';
import { ConnectionLimit } from '../platform/http/edge/connection-limit.js';

/** Limits the open streams. */
@Injectable()
export class ConsumerLimits extends ConnectionLimit {
  constructor() {
    super('streams of events');
  }
}

/** The interval of comments on an idle connection, in milliseconds. */
const KEEP_ALIVE = 10_000;

/** The open streams of the process. They end when it drains, and clients reconnect to another process. */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly streams = new Set<EventStream>();
  private isClosed = false;

  constructor(
    private readonly store: EventStore,
    private readonly log: EventLog,
    private readonly limits: ConsumerLimits,
    tasks: BackgroundTasks,
  ) {
    tasks.repeat({
      logger: new Logger('Events'),
      failure: 'Comments could not be sent to open streams',
      interval: KEEP_ALIVE,
      run: () => {
        if (this.isClosed) return;
        for (const stream of this.streams) stream.keepAlive();
      },
    });
  }

  get size(): number {
    return this.streams.size;
  }

  /** Runs before the HTTP server is closed, which waits for all responses. */
  onModuleDestroy(): void {
    this.isClosed = true;
    for (const stream of this.streams) stream.end();
  }

  /**
   * Opens a stream, after the given event or with the next one.
   *
   * @param client the address that the stream counts for
   * @throws AppError `INVALID_CURSOR`, `EVENTS_EXPIRED`, `SERVICE_UNAVAILABLE`
   */
  async open({ filter, after }: Pick<ReadEvents, 'filter' | 'after'>, client: string): Promise<EventStream> {
    const position = after ? await this.store.locate(after) : await this.log.catchUp();
    await this.log.findHead();
    const leave = this.limits.enter(client);
    const stream = new EventStream(position, filter, this.store, this.log);
    const unfollow = this.log.follow({
      accept: (batch) => stream.accept(batch),
      fail: () => stream.destroy(),
    });
    this.streams.add(stream);
    stream.once('close', () => {
      this.streams.delete(stream);
      unfollow();
      leave();
    });
    if (this.isClosed) stream.end();
    return stream;
  }
}
