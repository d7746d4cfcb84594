import { randomUUID } from 'node:crypto';
import type { Logger } from '@nestjs/common';
import type { BackgroundTasks } from '../../jobs/background-task.js';
import { Poller } from '../../jobs/poller.js';
import { EventFilter, type StoredEvent } from '../stored-event.js';
import type { EventLog } from '../event-log.js';
import type { EventStore } from '../event-store.js';
import { LEASE, type SubscriberPositions } from './subscriber-positions.js';
import { DiscoveryService } from '@nestjs/core';

export interface SubscriberOptions {
  /** The name under which its position is stored: unique, and never changed. */
  readonly name: string;
  /** Undefined: all. */
  readonly types?: readonly string[];
  /** The start of a new subscriber: with the next event, or with the oldest kept one. */
  readonly from?: 'now' | 'start';
}

/**
 * Marks a method of a provider as a durable subscriber: it gets each event at least once, in order, on one replica at a
 * time, across restarts. While it throws, the event is retried with backoff, and later ones wait; other subscribers go on.
 */
export const OnDurableEvent = DiscoveryService.createDecorator<SubscriberOptions>();

const READ = { limit: 100, bytes: 1024 * 1024 };

/** The interval at which the position advances while no event matches, in milliseconds. */
const IDLE_INTERVAL = 60_000;

/** Another process has taken over, and handles later events. */
class LeaseLost extends Error {}

/** Stores that the events up to a position are done. @returns whether to continue @throws LeaseLost */
type Advance = (position: number) => Promise<boolean>;

export interface Subscriber extends SubscriberOptions {
  /** Handles events in order, and advances the position; an error is retried. */
  readonly process: (events: readonly StoredEvent[], advance: Advance) => Promise<void>;
  /** Whether events need no handling for now; they are skipped, except for those of the last minute. */
  readonly isIdle?: (() => Promise<boolean>) | undefined;
}

interface Services {
  readonly tasks: Pick<BackgroundTasks, 'add'>;
  readonly log: EventLog;
  readonly store: Pick<EventStore, 'read' | 'state'>;
  readonly positions: SubscriberPositions;
  readonly logger: Logger;
}

/** Runs one durable subscriber, unless another process runs it: its jobs are the next events, a batch at a time. */
export class Subscription extends Poller<readonly StoredEvent[]> {
  readonly filter: EventFilter;
  private readonly owner = randomUUID();
  private hasPosition = false;
  private unfollow: (() => void) | undefined;
  private leasedUntil = 0;
  private skippedAt = -Infinity;
  private hasClaimed = false;

  constructor(
    private readonly subscriber: Subscriber,
    private readonly services: Services,
  ) {
    super(services.tasks, services.logger, `events of ${subscriber.name}`, 1);
    this.filter = new EventFilter('everything', subscriber.types);
  }

  /** Gives a new subscriber its first position. */
  private async addPosition(): Promise<void> {
    if (this.hasPosition) return;
    const { name, from } = this.subscriber;
    const last = await this.services.log.catchUp();
    await this.services.positions.add(name, from === 'start' ? 0 : last);
    this.hasPosition = true;
  }

  /** After an error, each poll tries again: the migrations may run while the process waits for them. */
  async open(): Promise<void> {
    await this.addPosition().catch(() => undefined);
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.unfollow?.();
    const { positions } = this.services;
    // Another process need not wait until the lease expires, unless the database is away.
    if (this.hasClaimed && !this.isWorking)
      await positions.release(this.subscriber.name, this.owner).catch(() => undefined);
  }

  async claim(): Promise<readonly (readonly StoredEvent[])[]> {
    const { positions, store, log } = this.services;
    const { name, isIdle } = this.subscriber;
    await this.addPosition();
    if (await isIdle?.()) {
      await this.skip();
      return [];
    }
    this.unfollow ??= log.follow({
      accept: () => this.wake(),
      fail: () => (this.unfollow = undefined),
    });
    for (let position; (position = await positions.available(name, this.owner)) !== undefined;) {
      const rows = await store.read(position, this.filter, READ);
      // Nothing is written while there are no events.
      if (this.stopped || rows.length === 0) break;
      const current = await this.lease(position);
      if (current === undefined) break;
      if (current === position) return [rows.map(log.toEvent)];
      // Another process has handled events meanwhile, perhaps these.
    }
    return [];
  }

  async work(events: readonly StoredEvent[]): Promise<void> {
    const { positions, logger } = this.services;
    const { name, process } = this.subscriber;
    const advance: Advance = async (position) => {
      if (!(await positions.advance(name, this.owner, position))) throw new LeaseLost();
      return !this.stopped;
    };
    // An event may take longer than a lease.
    const renewal = setInterval(() => {
      positions.claim(name, this.owner).catch(() => undefined);
    }, LEASE / 3).unref();
    try {
      await process(events, advance);
    } catch (error) {
      this.leasedUntil = 0;
      if (error instanceof LeaseLost) return;
      const cause = error instanceof Error ? error.message : String(error);
      const milliseconds = await positions.postpone(name, this.owner, cause);
      logger.warn({ msg: 'A subscriber failed, and will be retried', name, milliseconds, err: error });
    } finally {
      clearInterval(renewal);
    }
  }

  private async skip(): Promise<void> {
    const { positions, log, store } = this.services;
    this.unfollow?.();
    this.unfollow = undefined;
    if (performance.now() - this.skippedAt < IDLE_INTERVAL) return;
    this.skippedAt = performance.now();
    const { last } = await store.state();
    // Events that arrive meanwhile must not be skipped.
    if (!(await this.subscriber.isIdle?.())) return;
    await positions.skip(this.subscriber.name, Math.min(last, log.head));
  }

  /** Takes or renews the lease. @returns the position under it; `undefined` if another process has the lease */
  private async lease(position: number): Promise<number | undefined> {
    if (this.leasedUntil - performance.now() > LEASE / 2) return position;
    const current = await this.services.positions.claim(this.subscriber.name, this.owner);
    const isOurs = current !== undefined;
    this.leasedUntil = isOurs ? performance.now() + LEASE : 0;
    this.hasClaimed ||= isOurs;
    return current;
  }
}
