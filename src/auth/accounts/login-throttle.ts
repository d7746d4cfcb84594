import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, Repository } from 'typeorm';
import { Clock } from '../../common/clock/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { type Counter, Metrics } from '../../common/metrics/metrics.js';
import { networkOf } from '../../common/request/client.js';
import { Transactions } from '../../database/transactions.js';
import { LoginFailure } from './login-failure.entity.js';

/** Failures within the window after which further attempts have to wait: of one pair, and of one network. */
const LIMITS = { pair: 20, network: 300 };

/** From the first failure, in milliseconds. */
const WINDOW = 5 * 60_000;

/** Someone who tries to log in; the account need not exist. */
export interface Attempt {
  readonly emailKey: string;
  readonly address: string;
}

/**
 * Counts failed logins for each pair of account and client network, and for each network over all accounts:
 * guessing is slow from one address, and nobody can lock an account's owner out from another. It is kept in
 * the database, for all replicas.
 */
@Injectable()
export class LoginThrottle {
  private readonly throttled: Counter;

  constructor(
    @InjectRepository(LoginFailure) private readonly failures: Repository<LoginFailure>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.throttled = metrics.counter(
      'login_throttled_total',
      'Passwords that were not looked at after too many failures: of an account from an address, or of the address',
      ['limit'],
    );
  }

  /** @throws AppError `RATE_LIMITED` when the pair or the network has to wait */
  async assertNotBlocked(attempt: Attempt): Promise<void> {
    const now = this.clock.now();
    const { pair, network } = countersOf(attempt);
    const rows = await this.failures.findBy({ id: In([pair, network]), expiresAt: MoreThan(now) });
    for (const { id, failures, expiresAt } of rows) {
      const limit = id === pair ? 'pair' : 'network';
      if (failures >= LIMITS[limit]) throw this.rateLimited(limit, expiresAt, now);
    }
  }

  /**
   * Counts an attempt as a failure before its outcome is known, so that many at once are not more than the
   * limit. {@link clear} takes it back.
   *
   * @throws AppError `RATE_LIMITED` when there were too many
   */
  async count(attempt: Attempt): Promise<void> {
    const now = this.clock.now();
    const { pair, network } = countersOf(attempt);
    // SQL, because an upsert of TypeORM sets a column to the new value, and not to one that depends on the old.
    const rows = await this.transactions.execute<{ id: string; failures: number; expires_at: string }>(
      `INSERT INTO login_failures AS f (id, failures, expires_at) VALUES (:pair, 1, :end), (:network, 1, :end)
       ON CONFLICT (id) DO UPDATE SET
         failures = CASE WHEN f.expires_at > :now THEN f.failures + 1 ELSE 1 END,
         expires_at = CASE WHEN f.expires_at > :now THEN f.expires_at ELSE excluded.expires_at END
       RETURNING id, failures, expires_at`,
      {
        pair,
        network,
        now: now.toISOString(),
        end: new Date(now.getTime() + WINDOW).toISOString(),
      },
    );
    for (const { id, failures, expires_at } of rows) {
      const limit = id === pair ? 'pair' : 'network';
      if (failures > LIMITS[limit]) throw this.rateLimited(limit, new Date(expires_at), now);
    }
  }

  /** The password was right: the count of the pair starts again, and the network has one failure less. */
  async clear(attempt: Attempt): Promise<void> {
    const { pair, network } = countersOf(attempt);
    await this.failures.delete({ id: pair });
    await this.failures.decrement({ id: network, failures: MoreThan(0) }, 'failures', 1);
  }

  private rateLimited(limit: keyof typeof LIMITS, end: Date, now: Date): AppError {
    this.throttled.add({ limit });
    const seconds = Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 1000));
    return new AppError('RATE_LIMITED', TOO_MANY_FAILURES, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}

export const TOO_MANY_FAILURES = 'Too many failed logins; retry later';

/** The ids of the two counters of an attempt. */
function countersOf({ emailKey, address }: Attempt): { pair: string; network: string } {
  const network = networkOf(address);
  return { pair: hash([emailKey, network]), network: hash([network]) };
}

/** What people type into the field of the e-mail may be anything, and of any length. */
const hash = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
