import { Injectable } from '@nestjs/common';
import { Clock } from '../../jobs/clock.js';
import { Queries } from '../../database/queries.js';
import { Transactions } from '../../database/transactions.js';

/** How long a lease lasts unless it is renewed, in milliseconds. */
export const LEASE = 30_000;

/** Before the second attempt, in milliseconds; doubled after each further one, up to the maximum. */
const FIRST_DELAY = 1000;
const MAX_DELAY = 5 * 60_000;

interface Row {
  readonly position: number;
  readonly lease_owner: string | null;
  readonly lease_until: string | null;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
}

/** The positions of subscribers in the log, each with a lease for the process that runs the subscriber. */
@Injectable()
export class SubscriberPositions {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * Registers a subscriber; one that is already registered keeps its position. In a database that only one process can
   * use, the former process has ended, and so does its lease.
   */
  async add(name: string, position: number): Promise<void> {
    const update = this.queries.dialect.hasOneProcess ? 'UPDATE SET lease_until = NULL' : 'NOTHING';
    await this.transactions.execute(
      `INSERT INTO event_subscribers (name, position) VALUES (:name, :position) ON CONFLICT (name) DO ${update}`,
      { name, position },
    );
  }

  /** The position to continue from; `undefined` while another process has the lease, or a retry is not due. */
  async available(name: string, owner: string): Promise<number | undefined> {
    const row = await this.queries.one<Row>(
      'SELECT position, lease_owner, lease_until, attempts, next_attempt_at FROM event_subscribers WHERE name = :name',
      { name },
    );
    const now = this.clock.now().toISOString();
    if (!row || (row.next_attempt_at !== null && row.next_attempt_at > now)) return undefined;
    const isTaken = row.lease_until !== null && row.lease_until > now && row.lease_owner !== owner;
    return isTaken ? undefined : row.position;
  }

  /** The position of each subscriber. */
  all(): Promise<{ name: string; position: number }[]> {
    return this.queries.all('SELECT name, position FROM event_subscribers');
  }

  /** Takes or renews the lease. @returns the position; `undefined` if another process has the lease */
  async claim(name: string, owner: string): Promise<number | undefined> {
    const now = this.clock.now();
    const [row] = await this.transactions.execute<{ position: number }>(
      `UPDATE event_subscribers SET lease_owner = :owner, lease_until = :until
       WHERE name = :name AND (lease_owner = :owner OR lease_until IS NULL OR lease_until <= :now)
       RETURNING position`,
      { name, owner, now: now.toISOString(), until: new Date(now.getTime() + LEASE).toISOString() },
    );
    return row?.position;
  }

  /** Stores that events up to a position are done. @returns false if the lease was lost, or the position is later */
  async advance(name: string, owner: string, position: number): Promise<boolean> {
    const rows = await this.transactions.execute(
      `UPDATE event_subscribers SET position = :position, attempts = 0, next_attempt_at = NULL, error = NULL
       WHERE name = :name AND lease_owner = :owner AND position <= :position RETURNING name`,
      { name, owner, position },
    );
    return rows.length > 0;
  }

  /** Advances the position past events that need no handling. */
  async skip(name: string, position: number): Promise<void> {
    await this.transactions.execute(
      'UPDATE event_subscribers SET position = :position WHERE name = :name AND position < :position',
      { name, position },
    );
  }

  /** Schedules a retry of an event that failed. @returns the delay in milliseconds */
  async postpone(name: string, owner: string, error: string): Promise<number> {
    const row = await this.queries.one<Row>('SELECT attempts FROM event_subscribers WHERE name = :name', {
      name,
    });
    const attempts = (row?.attempts ?? 0) + 1;
    const delay = Math.min(FIRST_DELAY * 2 ** Math.min(attempts - 1, 20), MAX_DELAY);
    await this.transactions.execute(
      `UPDATE event_subscribers SET attempts = :attempts, next_attempt_at = :next, error = :error, lease_until = NULL
       WHERE name = :name AND lease_owner = :owner`,
      {
        name,
        owner,
        attempts,
        error: error.slice(0, 1000),
        next: new Date(this.clock.now().getTime() + delay).toISOString(),
      },
    );
    return delay;
  }

  async release(name: string, owner: string): Promise<void> {
    await this.transactions.execute(
      'UPDATE event_subscribers SET lease_until = NULL WHERE name = :name AND lease_owner = :owner',
      { name, owner },
    );
  }
}
