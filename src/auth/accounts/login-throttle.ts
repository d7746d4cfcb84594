import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Counter, Registry } from 'prom-client';
import { In, MoreThan, Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { networkOf } from '../../platform/http/client.js';
import { Transactions } from '../../platform/database/transactions.js';
import { LoginFailure } from './login-failure.entity.js';

const MINUTE = 60_000;

/** After how many failures further attempts are rejected, until a window ends that the first failure begins. */
const LIMITS = {
  /** Of an account, from one network. */
  pair: { max: 20, window: 5 * MINUTE },
  /** From one network, over all accounts. */
  network: { max: 300, window: 5 * MINUTE },
  /** Of codes of the app of an account, from anywhere: six digits can be guessed (NIST SP 800-63B, section 5.2.2). */
  codes: { max: 10, window: 60 * MINUTE },
} as const;

type Limit = keyof typeof LIMITS;

/** Somebody who tries to log in. */
export interface Attempt {
  readonly address: string;
  /** The account need not exist. Undefined for a passkey, whose response names the account. */
  readonly emailKey?: string;
  readonly accountId?: number | undefined;
  /** Whether it is a code of the app. */
  readonly isCode?: boolean;
}

/** An attempt that was counted before its outcome was known. */
export interface CountedAttempt {
  /** The number of wrong codes of the app, if it is one. */
  readonly codes: number;
  readonly counters: readonly { readonly id: string; readonly limit: Limit; readonly expiresAt: Date }[];
}

/**
 * Counts failed logins for each pair of account and client network, for each network over all accounts, and wrong codes
 * for each account. It slows down guessing; a password of an account's owner goes on working elsewhere. The database keeps
 * the counters for all replicas.
 */
@Injectable()
export class LoginThrottle {
  private readonly throttled: Counter;

  constructor(
    @InjectRepository(LoginFailure) private readonly failures: Repository<LoginFailure>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly security: SecurityEvents,
    registry: Registry,
  ) {
    this.throttled = new Counter({
      name: 'login_throttled_total',
      help: 'Passwords and codes that were not looked at after too many failures: of an account from an address, of the address, or of codes of an account',
      labelNames: ['limit'],
      registers: [registry],
    });
  }

  /** @throws AppError `RATE_LIMITED` while one of its limits is reached */
  async assertNotBlocked(attempt: Attempt): Promise<void> {
    const counters = countersOf(attempt);
    const ids = In(counters.map(({ id }) => id));
    const rows = await this.failures.findBy({ id: ids, expiresAt: MoreThan(this.clock.now()) });
    for (const { id, limit } of counters) {
      const row = rows.find((each) => each.id === id);
      if (row && row.failures >= LIMITS[limit].max) throw this.rateLimited(attempt, limit, row.expiresAt);
    }
  }

  /**
   * Counts an attempt as a failure before its outcome is known, so that concurrent attempts cannot exceed
   * the limit. {@link succeed} reverts it.
   *
   * @throws AppError `RATE_LIMITED` when a limit is exceeded
   */
  async count(attempt: Attempt): Promise<CountedAttempt> {
    const now = this.clock.now();
    const counters = countersOf(attempt);
    const parameters = counters.map(({ id, limit }, n) => ({
      [`id${n}`]: id,
      [`end${n}`]: new Date(now.getTime() + LIMITS[limit].window).toISOString(),
    }));
    // SQL, because an upsert of TypeORM cannot compute a value from the existing one.
    const rows = await this.transactions.execute<{ id: string; failures: number; expires_at: string }>(
      `INSERT INTO login_failures AS f (id, failures, expires_at)
       VALUES ${counters.map((_, n) => `(:id${n}, 1, :end${n})`).join(', ')}
       ON CONFLICT (id) DO UPDATE SET
         failures = CASE WHEN f.expires_at > :now THEN f.failures + 1 ELSE 1 END,
         expires_at = CASE WHEN f.expires_at > :now THEN f.expires_at ELSE excluded.expires_at END
       RETURNING id, failures, expires_at`,
      Object.assign({ now: now.toISOString() }, ...parameters),
    );
    const counted = counters.map((counter) => {
      const { failures, expires_at } = rows.find(({ id }) => id === counter.id)!;
      return { ...counter, failures, expiresAt: new Date(expires_at) };
    });
    for (const { limit, failures, expiresAt } of counted) {
      if (failures > LIMITS[limit].max) throw this.rateLimited(attempt, limit, expiresAt);
    }
    const codes = counted.find(({ limit }) => limit === 'codes')?.failures ?? 0;
    return { codes, counters: counted };
  }

  /**
   * Reverts {@link count}. A right code resets the counter of codes, and a complete login that of the pair; what has failed
   * otherwise stays counted.
   */
  async succeed({ counters }: CountedAttempt, { isComplete }: { isComplete: boolean }): Promise<void> {
    // One statement for all would lock them in any order, and so cause deadlocks with those of other attempts.
    for (const { id, limit, expiresAt } of counters) {
      if (limit === 'codes' || (limit === 'pair' && isComplete)) await this.failures.delete({ id });
      else await this.failures.decrement({ id, expiresAt, failures: MoreThan(0) }, 'failures', 1);
    }
  }

  private rateLimited({ emailKey, accountId }: Attempt, limit: Limit, end: Date): AppError {
    this.throttled.inc({ limit });
    this.security.record('login_throttled', { accountId, email: emailKey });
    const seconds = Math.max(1, Math.ceil((end.getTime() - this.clock.now().getTime()) / 1000));
    return new AppError('RATE_LIMITED', limit === 'codes' ? TOO_MANY_CODES : TOO_MANY_FAILURES, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}

export const TOO_MANY_FAILURES = 'Too many failed logins; retry later';

export const TOO_MANY_CODES = 'Too many wrong codes; use a recovery code or a passkey, or retry later';

/** The counters of an attempt, in the order in which all attempts lock them. */
function countersOf({ address, emailKey, accountId, isCode }: Attempt): { id: string; limit: Limit }[] {
  const network = networkOf(address);
  return [
    ...(emailKey === undefined ? [] : [{ limit: 'pair' as const, id: hash([emailKey, network]) }]),
    { limit: 'network', id: hash([network]) },
    ...(isCode ? [{ limit: 'codes' as const, id: hash(['codes', accountId]) }] : []),
  ];
}

/** Clients may send any text, of any length, as the e-mail. */
const hash = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
