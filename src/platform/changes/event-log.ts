import { setImmediate } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../config/config.js';
import { BackgroundTask, BackgroundTasks } from '../jobs/background-task.js';
import { CommittedEvents } from './committed-events.js';
import { EVERY_EVENT, StoredEvent } from './stored-event.js';
import { EventAppender } from './event-appender.js';
import { ReadPace } from './read-pace.js';
import { EventStore } from './event-store.js';

/** The longest interval between two reads, in milliseconds: for events of other processes. */
const INTERVAL = 500;

/** The shortest interval between the end of a read and the next one, for other work, in milliseconds. */
const PAUSE = 25;

const READ = { limit: 500, bytes: 256 * 1024 };

/** New events in order: all events after one position, up to another. */
export interface EventBatch {
  readonly after: number;
  readonly events: readonly StoredEvent[];
}

interface Follower {
  readonly accept: (batch: EventBatch) => void;
  /** Called once, when `accept` has thrown: the follower gets no more events. */
  readonly fail: (error: unknown) => void;
}

/** The log's reader, one for each process: it reads each new event once, and passes it to all followers. */
@Injectable()
export class EventLog extends BackgroundTask {
  private readonly logger: Logger;
  private readonly followers = new Set<Follower>();
  private readonly pace = new ReadPace();
  /** Whether this process has committed events since the last read. */
  private hasCommitted = false;
  private foundHead: Promise<void> | undefined;

  /** The position up to which the followers have all events. */
  head = 0;

  constructor(
    private readonly store: EventStore,
    private readonly appender: EventAppender,
    private readonly config: Config,
    committed: CommittedEvents,
    tasks: BackgroundTasks,
  ) {
    const logger = new Logger('Events');
    super(tasks, {
      logger,
      failure: 'The log of events cannot be read',
      interval: INTERVAL,
      run: () => this.readNew(),
      pause: (beganAt) => Math.max(beganAt + this.pace.next(this.followers.size) - performance.now(), PAUSE),
    });
    this.logger = logger;
    committed.listen(() => {
      this.hasCommitted = true;
      this.wake();
    });
  }

  async open(): Promise<void> {
    try {
      await this.appender.open();
      await this.findHead();
    } catch (error) {
      // The migrations have not run, or the database is read-only: the service starts, and reports it.
      this.logger.warn({ msg: 'The log of events cannot be opened', err: error });
    }
  }

  /** Gives positions to all committed events. @returns the last position */
  async catchUp(): Promise<number> {
    await this.findHead();
    const { last, hasUnnumbered } = await this.store.state();
    return hasUnnumbered ? this.number() : last;
  }

  /** Finds the end of the log, once; await it before `follow`. After an error at start, it tries again. */
  findHead(): Promise<void> {
    return (this.foundHead ??= this.outside(() => this.readHead()).catch((error: unknown) => {
      this.foundHead = undefined;
      throw error;
    }));
  }

  /** Passes every batch from now on to the follower, until the returned function is called. */
  follow(follower: Follower): () => void {
    this.followers.add(follower);
    return () => this.followers.delete(follower);
  }

  toEvent = (row: ConstructorParameters<typeof StoredEvent>[0]): StoredEvent =>
    new StoredEvent(row, this.config.publicUrl);

  private async number(): Promise<number> {
    // It takes part in the caller's transaction: a second connection for each of them could use up the pool.
    await this.appender.number();
    // Besides its result, this query lets PostgreSQL remove numbered events from the index of those without a position:
    // the numbering does not always do that, and would read them every time.
    return (await this.store.state()).last;
  }

  private async readHead(): Promise<void> {
    this.head = (await this.store.state()).last;
  }

  /** An error of one follower must not affect the others. */
  private pass(batch: EventBatch, follower: Follower): void {
    try {
      follower.accept(batch);
    } catch (error) {
      this.logger.error({ msg: 'A consumer of events failed and was removed', err: error });
      this.followers.delete(follower);
      follower.fail(error);
    }
  }

  /** Gives positions to new events, and passes them to the followers. */
  private async readNew(): Promise<void> {
    const { hasCommitted } = this;
    this.hasCommitted = false;
    await this.findHead();
    const last = hasCommitted ? await this.number() : await this.catchUp();
    while (this.head < last) {
      const isFollowed = this.followers.size > 0;
      const rows = isFollowed ? await this.store.read(this.head, EVERY_EVENT, READ) : [];
      // Nobody needs the events, or they were purged before they were read.
      if (rows.length === 0) {
        this.head = last;
        return;
      }
      const events = rows.map(this.toEvent);
      const batch = { after: this.head, events };
      this.head = events.at(-1)!.position;
      for (const follower of this.followers) this.pass(batch, follower);
      // Lets the streams send the batch before the next one.
      await setImmediate();
    }
  }
}
