import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import type { Listening } from '../database/listening.js';
import { CommittedEvents } from './committed-events.js';
import { EVERY_EVENT } from './event-filter.js';
import { CHANNEL, EventNumbering } from './event-numbering.js';
import { EventStore } from './event-store.js';
import { StoredEvent } from './stored-event.js';

/**
 * Between two looks for new events while there are some, in milliseconds: what came meanwhile is sent together. It is
 * longer with many streams, each of which costs a system call.
 */
const PACE = { least: 25, most: 50, followers: 1000 };

/** The same while nobody follows in this process: other replicas still hear of it soon. */
const PACE_ALONE = 100;

/** Between two looks in any case, in milliseconds: for what a killed process has left, and commands have written. */
const INTERVAL = 1000;

/** The same where no signals arrive, such as behind a pooler. */
const INTERVAL_WITHOUT_SIGNALS = 200;

/** What is read at a time. */
const READ = { limit: 500, bytes: 256 * 1024 };

/** New events in their order: all those after one position, up to another. */
export interface EventBatch {
  readonly after: number;
  readonly events: readonly StoredEvent[];
}

interface Follower {
  readonly accept: (batch: EventBatch) => void;
  /** Called once, when `accept` has thrown: it gets no more. */
  readonly fail: (error: unknown) => void;
}

/** The one reader of the process: it sees each new event once, and passes it to all that follow. */
@Injectable()
export class EventLog implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Events');
  private readonly outside = AsyncLocalStorage.snapshot();
  private readonly followers = new Set<Follower>();
  private listening: Listening | undefined;
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;
  private lastRound = 0;
  private round: Promise<void> | undefined;
  /** Whether this process has committed events since the last round. */
  private hasCommitted = false;
  private stopped = true;
  private hasHead = false;
  private findingHead: Promise<void> | undefined;

  /** The position up to which followers have seen everything. */
  head = 0;

  constructor(
    private readonly store: EventStore,
    private readonly numbering: EventNumbering,
    private readonly database: Database,
    private readonly config: Config,
    committed: CommittedEvents,
  ) {
    committed.listen(() => {
      this.hasCommitted = true;
      this.wake();
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.numbering.open();
      await this.findHead();
    } catch (error) {
      // The migrations have not run, or the database only reads: the service starts, and reports it.
      this.logger.warn({ msg: 'The log of events cannot be opened', err: error });
    }
    this.listening = this.database.listen(CHANNEL, () => this.wake());
    this.stopped = false;
    this.schedule(INTERVAL_WITHOUT_SIGNALS);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.listening?.close();
    await this.round;
  }

  /** Whether signals of other processes arrive; `undefined` where none can. */
  get listens(): boolean | undefined {
    const { store } = this.config;
    return store.kind === 'postgres' && !store.pooled ? (this.listening?.works ?? false) : undefined;
  }

  /** Gives positions to all events that have committed by now. @returns the last position */
  async catchUp(): Promise<number> {
    await this.findHead();
    const { last, hasUnnumbered } = await this.store.state();
    if (!hasUnnumbered) return last;
    // Whoever asks for it has not changed anything by it.
    await this.outside(() => this.numbering.number());
    return (await this.store.state()).last;
  }

  /** Finds out where the log ends, once; await it before you follow. Where the start has met an error, it asks again. */
  async findHead(): Promise<void> {
    if (this.hasHead) return;
    this.findingHead ??= this.outside(() => this.readHead()).finally(() => (this.findingHead = undefined));
    await this.findingHead;
  }

  /** Passes on every batch from now on, until the returned function is called. */
  follow(follower: Follower): () => void {
    this.followers.add(follower);
    return () => this.followers.delete(follower);
  }

  /** Has the log looked at, as soon as its pace allows. */
  wake(): void {
    this.schedule(Math.max(0, this.lastRound + this.pace - Date.now()));
  }

  toEvent = (row: ConstructorParameters<typeof StoredEvent>[0]): StoredEvent =>
    new StoredEvent(row, this.config.publicUrl);

  private get pace(): number {
    const { size } = this.followers;
    if (size === 0) return PACE_ALONE;
    return PACE.least + (PACE.most - PACE.least) * Math.min(1, size / PACE.followers);
  }

  private schedule(delay: number): void {
    const dueAt = Date.now() + delay;
    if (this.stopped || dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = this.outside(setTimeout, () => this.begin(), delay).unref();
  }

  private begin(): void {
    // The round that is under way looks again at its end.
    if (this.round) return;
    this.dueAt = Infinity;
    this.round = this.look()
      .catch((error: unknown) => this.logger.warn({ msg: 'The log of events cannot be read', err: error }))
      .finally(() => {
        this.round = undefined;
        this.lastRound = Date.now();
        const interval = this.listening?.works ? INTERVAL : INTERVAL_WITHOUT_SIGNALS;
        // Whoever has called `wake` meanwhile is not to wait longer.
        const delay = this.hasCommitted ? 0 : Math.min(this.dueAt - this.lastRound, interval);
        this.dueAt = Infinity;
        this.schedule(Math.max(this.pace, delay));
      });
  }

  private async readHead(): Promise<void> {
    this.head = (await this.store.state()).last;
    this.hasHead = true;
  }

  /** One that throws does not keep the batch from the others. */
  private pass(batch: EventBatch, follower: Follower): void {
    try {
      follower.accept(batch);
    } catch (error) {
      this.logger.error({ msg: 'A consumer of events failed, and is ended', err: error });
      this.followers.delete(follower);
      follower.fail(error);
    }
  }

  private async look(): Promise<void> {
    if (this.hasCommitted) {
      this.hasCommitted = false;
      await this.numbering.number();
    }
    await this.findHead();
    let { last, hasUnnumbered } = await this.store.state();
    if (hasUnnumbered) last = await this.catchUp();
    while (this.head < last) {
      if (this.followers.size === 0) {
        this.head = last;
        return;
      }
      const rows = await this.store.read(this.head, EVERY_EVENT, READ);
      // Purged, before anybody has seen it.
      if (rows.length === 0) {
        this.head = last;
        return;
      }
      const events = rows.map(this.toEvent);
      const batch = { after: this.head, events };
      this.head = events.at(-1)!.position;
      for (const follower of this.followers) this.pass(batch, follower);
      // Streams send it before the next one comes.
      await setImmediate();
    }
  }
}
