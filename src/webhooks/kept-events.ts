import { Injectable } from '@nestjs/common';
import { Purger } from '../platform/jobs/purger.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { EventPurge, type EventRow, EventStore } from '../platform/changes/index.js';

const BATCH = 500;

/** What a delivery needs of an event. */
const COLUMNS = 'position, epoch, type, subject, time, data';

type KeptEvent = Pick<EventRow, 'position' | 'epoch' | 'type' | 'subject' | 'time' | 'data'>;

/** The events that deliveries need longer than the log: for retries, and to be delivered again. */
@Injectable()
export class KeptEvents {
  /** The position up to which the current purge has looked. */
  private purgedTo = 0;

  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly store: EventStore,
    eventPurge: EventPurge,
    purger: Purger,
  ) {
    eventPurge.beforePurge((first, last) => this.keep(first, last));
    purger.registerTask('webhook_events', () => this.purgeBatch());
  }

  /** @returns the event at a position; `undefined` if neither the log nor a delivery has kept it */
  async find(position: number): Promise<KeptEvent | undefined> {
    const inLog = await this.store.find(position);
    if (inLog) return inLog;
    return this.queries.one<KeptEvent>(`SELECT ${COLUMNS} FROM webhook_events WHERE position = :position`, {
      position,
    });
  }

  /** Copies the events of a range that have deliveries, in one statement: they can be large. */
  private async keep(first: number, last: number): Promise<void> {
    await this.transactions.execute(
      `INSERT INTO webhook_events (${COLUMNS}) SELECT ${COLUMNS} FROM events
       WHERE position BETWEEN :first AND :last
         AND position IN (SELECT position FROM webhook_deliveries WHERE position BETWEEN :first AND :last)
       ON CONFLICT (position) DO NOTHING`,
      { first, last },
    );
  }

  /** Of the next events in the order of their positions, deletes those whose deliveries have been purged. */
  private async purgeBatch(): Promise<{ deleted: number; isMore: boolean }> {
    const after = this.purgedTo;
    const next = await this.queries.all<{ position: number }>(
      `SELECT position FROM webhook_events WHERE position > :after ORDER BY position LIMIT ${BATCH}`,
      { after },
    );
    const isMore = next.length === BATCH;
    this.purgedTo = isMore ? next.at(-1)!.position : 0;
    if (next.length === 0) return { deleted: 0, isMore };
    const deleted = await this.transactions.execute(
      `DELETE FROM webhook_events WHERE position > :after AND position <= :last
         AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS delivery WHERE delivery.position = webhook_events.position)
       RETURNING position`,
      { after, last: next.at(-1)!.position },
    );
    return { deleted: deleted.length, isMore };
  }
}
