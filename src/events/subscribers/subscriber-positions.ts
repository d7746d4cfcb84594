import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock/clock.js';
import { Queries } from '../../database/queries.js';
import { Transactions } from '../../database/transactions.js';

/** How long a process has a subscriber to itself, in milliseconds, unless it renews that. */
export const LEASE = 30_000;

/** Before the second attempt, in milliseconds; twice as long after each further one, up to the greatest. */
const FIRST_DELAY = 1000;
const GREATEST_DELAY = 5 * 60_000;

interface Row {
  readonly position: number;
  readonly lease_owner: string | null;
  readonly lease_until: string | null;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
}

/** Where subscribers are in the log, with a lease for the process that runs one. */
@Injectable()
export class SubscriberPositions {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** Makes a subscriber known; one that is known keeps its position. */
  async add(name: string, position: number): Promise<void> {
    await this.transactions.execute(
      'INSERT INTO event_subscribers (name, position) VALUES (:name, :position) ON CONFLICT (name) DO NOTHING',
      { name, position },
    );
  }

  /** Ends the leases of a process that is gone, where there can only be one. */
  async releaseAll(): Promise<void> {
    await this.transactions.execute(
      'UPDATE event_subscribers SET lease_until = NULL WHERE lease_until IS NOT NULL',
    );
  }

  /** The position after which there is something to do; `undefined` while another process is at it, or it has to wait. */
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

  /** Takes or renews the lease. @returns the position; `undefined` where another process was faster */
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

  /** Events up to a position are done. @returns whether the lease still holds, and nobody has got further */
  async advance(name: string, owner: string, position: number): Promise<boolean> {
    const rows = await this.transactions.execute(
      `UPDATE event_subscribers SET position = :position, attempts = 0, next_attempt_at = NULL, error = NULL
       WHERE name = :name AND lease_owner = :owner AND position <= :position RETURNING name`,
      { name, owner, position },
    );
    return rows.length > 0;
  }

  /** Nobody needs the events up to a position. */
  async skip(name: string, position: number): Promise<void> {
    await this.transactions.execute(
      'UPDATE event_subscribers SET position = :position WHERE name = :name AND position < :position',
      { name, position },
    );
  }

  /** The next event failed. @returns after how many milliseconds it is tried again */
  async postpone(name: string, owner: string, error: string): Promise<number> {
    const row = await this.queries.one<Row>('SELECT attempts FROM event_subscribers WHERE name = :name', {
      name,
    });
    const attempts = (row?.attempts ?? 0) + 1;
    const delay = Math.min(FIRST_DELAY * 2 ** Math.min(attempts - 1, 20), GREATEST_DELAY);
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
