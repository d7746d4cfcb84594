import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Entity, In, Index, MoreThan, Repository } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../platform/database/columns.js';
import { Transactions } from '../platform/database/transactions.js';
import { Clock } from '../platform/jobs/clock.js';

/** How often something has happened within the current period, which begins with the first time. */
@Entity('counters')
@Index('counters_expires_at', ['expiresAt'])
export class Count {
  /** As {@link counterId} returns it. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('count')
  count!: number;

  /** It may not happen again before. */
  @TimestampColumn('next_at', { nullable: true })
  nextAt!: Date | null;

  /** The end of the period. */
  @TimestampColumn('expires_at')
  expiresAt!: Date;
}

export interface Limit {
  /** Within a period. */
  readonly max: number;
  /** In milliseconds. */
  readonly period: number;
  /** Between two times, in milliseconds. */
  readonly interval?: number;
}

type Counted = Pick<Count, 'id' | 'count' | 'expiresAt'>;

/** What is limited, for each account, address or client. The database keeps the counts for all replicas. */
@Injectable()
export class Counters {
  constructor(
    @InjectRepository(Count) private readonly counts: Repository<Count>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** The counts whose period has not ended. */
  find(ids: readonly string[]): Promise<Counted[]> {
    return this.counts.findBy({ id: In([...ids]), expiresAt: MoreThan(this.clock.now()) });
  }

  /**
   * Counts once more for each id, also beyond a limit, in one statement that locks them in this order.
   *
   * @returns the counts, in the same order
   */
  async add(limits: readonly (Pick<Limit, 'period'> & { readonly id: string })[]): Promise<Counted[]> {
    const rows = await this.upsert(limits);
    return limits.map((limit) => rows.find(({ id }) => id === limit.id)!);
  }

  /**
   * Counts once more, unless the limit is reached: of any number of concurrent calls, as many succeed as it allows.
   *
   * @returns 0, or the seconds to wait
   */
  async take(id: string, limit: Limit): Promise<number> {
    const taken = await this.upsert([{ id, ...limit }], limit.max);
    return taken.length > 0 ? 0 : Math.max(1, await this.secondsToWait([[id, limit]]));
  }

  /** How long one of the limits is reached, in seconds: 0 if none is. Counts nothing and waits for no lock. */
  async secondsToWait(limits: readonly (readonly [id: string, limit: Limit])[]): Promise<number> {
    const now = this.clock.now();
    const counts = await this.counts.findBy({ id: In(limits.map(([id]) => id)), expiresAt: MoreThan(now) });
    const ends = limits.map(([id, { max }]) => {
      const count = counts.find((each) => each.id === id);
      const end = count !== undefined && count.count < max ? count.nextAt : count?.expiresAt;
      return end != null && end > now ? this.secondsUntil(end) : 0;
    });
    return Math.max(...ends);
  }

  /** Takes one back. @param period the end of the period that it was counted in, if it may be another one now */
  async giveBack(id: string, period?: Date): Promise<void> {
    const isSame = period && { expiresAt: period };
    await this.counts.decrement({ id, count: MoreThan(0), ...isSame }, 'count', 1);
  }

  async reset(id: string): Promise<void> {
    await this.counts.delete({ id });
  }

  /** For `Retry-After`. */
  secondsUntil(end: Date): number {
    return Math.max(1, Math.ceil((end.getTime() - this.clock.now().getTime()) / 1000));
  }

  /** @param max also the interval must have passed then */
  private async upsert(
    limits: readonly (Pick<Limit, 'period' | 'interval'> & { readonly id: string })[],
    max?: number,
  ): Promise<Counted[]> {
    const now = this.clock.now();
    const after = (milliseconds: number) => new Date(now.getTime() + milliseconds).toISOString();
    const parameters = limits.map(({ id, period, interval = 0 }, n) => ({
      [`id${n}`]: id,
      [`end${n}`]: after(period),
      // The clocks of replicas differ a little.
      [`next${n}`]: interval === 0 ? new Date(0).toISOString() : after(interval),
    }));
    // SQL, because an upsert of TypeORM can neither compute a value from the existing row nor have a condition on it.
    const rows = await this.transactions.execute<{ id: string; count: number; expiresAt: string }>(
      `INSERT INTO counters AS c (id, count, next_at, expires_at)
       VALUES ${limits.map((_, n) => `(:id${n}, 1, :next${n}, :end${n})`).join(', ')}
       ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at,
         count = CASE WHEN c.expires_at > :now THEN c.count + 1 ELSE 1 END,
         expires_at = CASE WHEN c.expires_at > :now THEN c.expires_at ELSE excluded.expires_at END
       ${max === undefined ? '' : 'WHERE c.expires_at <= :now OR (c.next_at <= :now AND c.count < :max)'}
       RETURNING id, count, expires_at AS "expiresAt"`,
      Object.assign({ now: now.toISOString(), ...(max !== undefined && { max }) }, ...parameters),
    );
    return rows.map((row) => ({ ...row, expiresAt: new Date(row.expiresAt) }));
  }
}

/** The id of a counter. It is a hash, because clients may send any text, of any length. @param kind keeps counters apart */
export const counterId = (kind: string, ...parts: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, ...parts]))
    .digest('base64url');
