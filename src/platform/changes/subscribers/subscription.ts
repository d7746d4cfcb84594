import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@nestjs/common';
import type { EventFilter } from '../event-filter.js';
import type { EventLog } from '../event-log.js';
import type { EventStore } from '../event-store.js';
import type { StoredEvent } from '../stored-event.js';
import { LEASE, type SubscriberPositions } from './subscriber-positions.js';

const READ = { limit: 100, bytes: 1024 * 1024 };

/** The longest interval between two reads, in milliseconds. */
const INTERVAL = 1000;

/** The interval at which the position advances while no event matches, in milliseconds. */
const IDLE_INTERVAL = 60_000;

/** How long a stopping process waits for its current event, in milliseconds. */
const STOP_TIMEOUT = 3000;

/** Another process has taken over, and handles later events. */
class LeaseLost extends Error {}

/** Stores that the events up to a position are done. @returns whether to continue @throws LeaseLost */
type Advance = (position: number) => Promise<boolean>;

export interface Subscriber {
  readonly name: string;
  readonly filter: EventFilter;
  /** Handles events in order, and advances the position; an error is retried. */
  readonly process: (events: readonly StoredEvent[], advance: Advance) => Promise<void>;
  /** Whether events need no handling for now; they are skipped, except for those of the last minute. */
  readonly isIdle?: (() => Promise<boolean>) | undefined;
}

interface Services {
  readonly log: EventLog;
  readonly store: Pick<EventStore, 'read' | 'state'>;
  readonly positions: SubscriberPositions;
  readonly logger: Logger;
}

/** Runs one durable subscriber, unless another process runs it. */
export class Subscription {
  private readonly owner = randomUUID();
  private unfollow: (() => void) | undefined;
  private leasedUntil = 0;
  private skippedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isAwake = false;
  private hasClaimed = false;
  private stopped = false;

  constructor(
    private readonly subscriber: Subscriber,
    private readonly services: Services,
  ) {
    this.wake();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.unfollow?.();
    clearTimeout(this.timer);
    if (this.running) {
      const abort = new AbortController();
      const timeout = sleep(STOP_TIMEOUT, undefined, { signal: abort.signal }).catch(() => undefined);
      await Promise.race([this.running, timeout]);
      abort.abort();
    }
    // Another process need not wait until the lease expires.
    const { positions } = this.services;
    if (this.hasClaimed && !this.running) await positions.release(this.subscriber.name, this.owner);
  }

  private wake(): void {
    this.isAwake = true;
    if (this.running || this.stopped) return;
    clearTimeout(this.timer);
    const { name } = this.subscriber;
    this.running = this.run()
      .catch((error: unknown) =>
        this.services.logger.warn({ msg: 'A subscriber cannot continue for now', name, err: error }),
      )
      .finally(() => {
        this.running = undefined;
        if (!this.stopped) this.schedule();
      });
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.wake(), INTERVAL).unref();
  }

  private async run(): Promise<void> {
    const { positions, store, log } = this.services;
    const { name, filter, isIdle } = this.subscriber;
    if (await isIdle?.()) {
      await this.skip();
      return;
    }
    this.unfollow ??= log.follow({
      accept: () => this.wake(),
      fail: () => (this.unfollow = undefined),
    });
    while (this.isAwake && !this.stopped) {
      this.isAwake = false;
      for (let position; (position = await positions.available(name, this.owner)) !== undefined;) {
        const rows = await store.read(position, filter, READ);
        // Nothing is written while there are no events.
        if (this.stopped || rows.length === 0) break;
        const current = await this.lease(position);
        if (current === undefined) break;
        // Another process has handled events meanwhile, perhaps these.
        if (current !== position) continue;
        if (!(await this.handle(rows.map(log.toEvent)))) break;
      }
    }
  }

  /** Skips events while nothing needs handling. */
  private async skip(): Promise<void> {
    const { positions, log, store } = this.services;
    this.unfollow?.();
    this.unfollow = undefined;
    this.isAwake = false;
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

  /** @returns whether to continue */
  private async handle(events: readonly StoredEvent[]): Promise<boolean> {
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
      return true;
    } catch (error) {
      this.leasedUntil = 0;
      if (error instanceof LeaseLost) return false;
      const cause = error instanceof Error ? error.message : String(error);
      const milliseconds = await positions.postpone(name, this.owner, cause);
      logger.warn({ msg: 'A subscriber failed, and will be retried', name, milliseconds, err: error });
      return false;
    } finally {
      clearInterval(renewal);
    }
  }
}
