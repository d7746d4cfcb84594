import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Dialect } from '../database/dialect.js';
import { isNotPermitted } from '../database/failures.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';

/** How many events one transaction numbers. */
const BATCH = 500;

/** The channel that signals new events. */
export const CHANNEL = 'events';

/** The last position, in a query of `event_log`. */
export const lastPosition = ({ name }: Dialect): string =>
  name === 'postgres'
    ? 'last_position'
    : `coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)`;

interface LogRow {
  readonly epoch: string;
  readonly last_position: number;
  readonly server: string;
  readonly current: string;
}

/** Gives events their ids: an epoch, which identifies one history of the database, and a position. */
@Injectable()
export class EventNumbering {
  private readonly isPostgres: boolean;
  /** What {@link Dialect.server} gives, unless the database rejects it. */
  private server: string | undefined;
  /** Whether {@link server} is final. */
  private isIdentified = false;

  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
  ) {
    this.isPostgres = queries.dialect.name === 'postgres';
    this.server = queries.dialect.server;
  }

  /** Call it at start: a restored database must not give out the same ids again. */
  async open(): Promise<void> {
    // An embedded database cannot detect that it was restored; but the process has been restarted since.
    if (!this.isPostgres) return this.renewEpoch();
    await this.identify();
  }

  /**
   * Gives positions to committed events, in the order of their ids, and signals it. One process at a time
   * does that: others wait for the lock of the row. On SQLite, events have their position from the beginning.
   */
  async number(): Promise<void> {
    if (!this.isPostgres) return;
    await this.identify();
    for (let count = BATCH; count === BATCH;) count = await this.numberBatch();
  }

  /** Later ids begin with another epoch. */
  async renewEpoch(): Promise<void> {
    if (this.isPostgres) await this.identify();
    await this.transactions.run(async () => {
      const log = await this.lockLog();
      await this.beginEpoch(log);
    });
  }

  /** After an outage it tries again: replicas that disagree about the server would alternately begin new epochs. */
  private async identify(): Promise<void> {
    if (this.isIdentified) return;
    try {
      await this.queries.one(`SELECT ${this.server} AS current`);
    } catch (error) {
      if (!isNotPermitted(error)) throw error;
      // Some managed servers do not permit the query; there, an operator uses `npm run events -- renew-epoch`.
      this.server = `''`;
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
         SELECT epoch, last_position FROM event_log WHERE id = 1 AND server = ${this.server ?? `''`} FOR UPDATE
       ), next AS (
         SELECT id, row_number() OVER (ORDER BY id) AS place
         FROM (SELECT id FROM events WHERE position IS NULL ORDER BY id LIMIT ${BATCH}) AS committed
       ), numbered AS (
         UPDATE events SET epoch = log.epoch, position = log.last_position + next.place
         FROM log, next WHERE events.id = next.id AND coalesce(events.position, 0) = 0 RETURNING events.position
       ), counted AS (
         UPDATE event_log SET last_position = (SELECT max(position) FROM numbered)
         FROM log WHERE event_log.id = 1 AND EXISTS (SELECT 1 FROM numbered)
         RETURNING ${this.queries.dialect.notify(CHANNEL)}
       )
       SELECT (SELECT count(*) FROM next) AS count, EXISTS (SELECT 1 FROM log) AS is_current,
         (SELECT count(*) FROM counted) AS signals`,
    );
    const { count, is_current: isCurrent } = result!;
    if (isCurrent) return count;
    await this.transactions.run(async () => {
      const log = await this.lockLog();
      if (log.current !== log.server) await this.beginEpoch(log);
    });
    return BATCH;
  }

  private async lockLog(): Promise<LogRow> {
    const [log] = await this.transactions.execute<LogRow>(
      `SELECT epoch, ${lastPosition(this.queries.dialect)} AS last_position, server, ${this.server ?? `''`} AS current
       FROM event_log WHERE id = 1 ${this.queries.dialect.lockRowsForUpdate}`,
    );
    return log!;
  }

  private async beginEpoch(log: LogRow): Promise<void> {
    const epoch = randomBytes(6).toString('hex');
    await this.transactions.execute('UPDATE event_log SET epoch = :epoch, server = :server WHERE id = 1', {
      epoch,
      server: log.current,
    });
    await this.transactions.execute(
      'INSERT INTO event_epochs (epoch, first_position) VALUES (:epoch, :first)',
      {
        epoch,
        first: log.last_position + 1,
      },
    );
  }
}
