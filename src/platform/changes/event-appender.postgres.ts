import { isNotPermitted } from '../database/failures.js';
import type { Queries } from '../database/queries.js';
import type { Statement } from '../database/statement.js';
import type { Transactions } from '../database/transactions.js';
import type { NewEvent } from './define-events.js';
import { EventAppender } from './event-appender.js';

const BATCH = 500;

/** Transactions may commit in another order than they insert, so events get their position after the commit. */
export class PostgresEventAppender extends EventAppender {
  readonly lastPosition = 'last_position';
  readonly hasUnnumbered = 'EXISTS (SELECT 1 FROM events WHERE position IS NULL)';
  readonly oldestUnnumbered = 'SELECT time FROM events WHERE position IS NULL ORDER BY id LIMIT 1';

  /** What `Dialect.server` gives, unless the database rejects it. */
  private identity: string;
  /** Whether {@link identity} is final. */
  private isIdentified = false;

  constructor(queries: Queries, transactions: Transactions) {
    super(queries, transactions);
    this.identity = queries.dialect.server!;
  }

  protected override get server(): string {
    return this.identity;
  }

  /** The epoch is set with the position. */
  insertion(events: readonly NewEvent[], time: string): Statement {
    return this.insertInto({}, events, time);
  }

  open(): Promise<void> {
    return this.identify();
  }

  /** In the order of their ids. One process at a time does that: others wait for the lock of the row. */
  async number(): Promise<void> {
    await this.identify();
    for (let count = BATCH; count === BATCH;) count = await this.numberBatch();
  }

  override async renewEpoch(): Promise<void> {
    await this.identify();
    await super.renewEpoch();
  }

  /** After an outage it tries again: replicas that disagree about the server would alternately begin new epochs. */
  private async identify(): Promise<void> {
    if (this.isIdentified) return;
    try {
      await this.queries.one(`SELECT ${this.identity} AS current`);
    } catch (error) {
      if (!isNotPermitted(error)) throw error;
      // Some managed servers do not permit the query; there, an operator uses `npm run events -- renew-epoch`.
      this.identity = `''`;
    }
    this.isIdentified = true;
  }

  private async numberBatch(): Promise<number> {
    // One statement, because it runs many times a second. A process that has waited for the lock reads the current value,
    // and skips events that were numbered meanwhile, though its snapshot shows them without a position. Their
    // positions remain unused. With "position IS NULL" in place of `coalesce`, PostgreSQL reads all events without a
    // position for each of them, once its statistics say that there are few.
    const [result] = await this.transactions.execute<{ count: number; is_current: boolean }>(
      `WITH log AS (
         SELECT epoch, last_position FROM event_log WHERE id = 1 AND server = ${this.identity} FOR UPDATE
       ), next AS (
         SELECT id, row_number() OVER (ORDER BY id) AS place
         FROM (SELECT id FROM events WHERE position IS NULL ORDER BY id LIMIT ${BATCH}) AS committed
       ), numbered AS (
         UPDATE events SET epoch = log.epoch, position = log.last_position + next.place
         FROM log, next WHERE events.id = next.id AND coalesce(events.position, 0) = 0 RETURNING events.position
       ), counted AS (
         UPDATE event_log SET last_position = (SELECT max(position) FROM numbered)
         FROM log WHERE event_log.id = 1 AND EXISTS (SELECT 1 FROM numbered)
       )
       SELECT (SELECT count(*) FROM next) AS count, EXISTS (SELECT 1 FROM log) AS is_current`,
    );
    const { count, is_current: isCurrent } = result!;
    if (isCurrent) return count;
    await this.transactions.run(async () => {
      const log = await this.lockLog();
      if (log.current !== log.server) await this.beginEpoch(log);
    });
    return BATCH;
  }
}
