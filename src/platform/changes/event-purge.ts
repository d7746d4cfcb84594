import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../jobs/clock.js';
import { Purger } from '../jobs/purger.js';
import { Config } from '../config/config.js';
import { EventStore, type PurgedEvent } from './event-store.js';
import { SubscriberPositions } from './subscribers/subscriber-positions.js';
import { Subscribers } from './subscribers/subscribers.js';

const DAY = 24 * 3600_000;

/** Deletes events that are older than the retention, from the start of the log. */
@Injectable()
export class EventPurge {
  private readonly logger = new Logger('Events');
  private readonly listeners: ((first: number, last: number) => Promise<void>)[] = [];

  constructor(
    purger: Purger,
    store: EventStore,
    clock: Clock,
    { eventsRetentionDays }: Config,
    private readonly subscribers: Subscribers,
    private readonly positions: SubscriberPositions,
  ) {
    purger.registerTask('events', async () => {
      const olderThan = new Date(clock.now().getTime() - eventsRetentionDays * DAY);
      const { deleted, isMore } = await store.purgeBatch(olderThan, async (first, last) => {
        for (const listener of this.listeners) await listener(first, last);
      });
      if (deleted.length > 0) await this.reportLosses(deleted);
      return { deleted: deleted.length, isMore };
    });
  }

  /** @param listener called with the first and the last position, in the transaction that deletes the events */
  beforePurge(listener: (first: number, last: number) => Promise<void>): void {
    this.listeners.push(listener);
  }

  /** A subscriber that kept failing loses the deleted events, so that is logged. */
  private async reportLosses(purged: readonly PurgedEvent[]): Promise<void> {
    for (const { name, position } of await this.positions.all()) {
      const filter = this.subscribers.subscriptions.get(name)?.filter;
      if (!filter) continue;
      const lost = purged.filter(
        (event) => event.position > position && (filter.types?.includes(event.type) ?? true),
      );
      if (lost.length === 0) continue;
      this.logger.warn({ msg: 'A subscriber has lost events that were purged', name, events: lost.length });
    }
  }
}
