import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, Repository } from 'typeorm';
import { Clock } from '../../common/ports/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { type Counter, Metrics } from '../../common/ports/metrics.js';
import { SecurityEvents } from '../../common/ports/security-events.js';
import { networkOf } from '../../common/http/client.js';
import { Transactions } from '../../database/transactions.js';
import { LoginFailure } from './login-failure.entity.js';

/** Failures within the window after which further attempts are rejected: of one pair, and of one network. */
const LIMITS = { pair: 20, network: 300 };

/** From the first failure, in milliseconds. */
const WINDOW = 5 * 60_000;

/** Somebody who tries to log in; the account need not exist. */
export interface Attempt {
  readonly emailKey: string;
  readonly accountId?: number | undefined;
  readonly address: string;
}

/**
 * Counts failed logins for each pair of account and client network, and for each network over all accounts.
 * It slows down guessing, and does not lock an account's owner out because of another client. The database keeps
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
    metrics: Metrics,
  ) {
    this.throttled = metrics.counter(
      'login_throttled_total',
      'Passwords that were not looked at after too many failures: of an account from an address, or of the address',
      ['limit'],
    );
  }

  /** @throws AppError `RATE_LIMITED` while the pair or the network is blocked */
  async assertNotBlocked(attempt: Attempt): Promise<void> {
    const now = this.clock.now();
    const { pair, network } = countersOf(attempt);
    const rows = await this.failures.findBy({ id: In([pair, network]), expiresAt: MoreThan(now) });
    for (const { id, failures, expiresAt } of rows) {
      const limit = id === pair ? 'pair' : 'network';
      if (failures >= LIMITS[limit]) throw this.rateLimited(attempt, limit, expiresAt);
    }
  }

  /**
   * Counts an attempt as a failure before its outcome is known, so that concurrent attempts cannot exceed
   * the limit. {@link clear} reverts it.
   *
   * @throws AppError `RATE_LIMITED` when the limit is exceeded
   */
  async count(attempt: Attempt): Promise<void> {
    const now = this.clock.now();
    const { pair, network } = countersOf(attempt);
    // SQL, because an upsert of TypeORM cannot compute a value from the existing one.
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
      if (failures > LIMITS[limit]) throw this.rateLimited(attempt, limit, new Date(expires_at));
    }
  }

  /** Reverts {@link count}: the password was right, but the login is not complete. */
  async uncount(attempt: Attempt): Promise<void> {
    const { pair, network } = countersOf(attempt);
    // One statement for both would lock them in any order, and so cause deadlocks with those of other attempts.
    await this.reduce(pair);
    await this.reduce(network);
  }

  /** The login is complete: resets the counter of the pair and reduces that of the network by one. */
  async clear(attempt: Attempt): Promise<void> {
    const { pair, network } = countersOf(attempt);
    await this.failures.delete({ id: pair });
    await this.reduce(network);
  }

  private async reduce(id: string): Promise<void> {
    await this.failures.decrement({ id, failures: MoreThan(0) }, 'failures', 1);
  }

  private rateLimited({ emailKey, accountId }: Attempt, limit: keyof typeof LIMITS, end: Date): AppError {
    this.throttled.add({ limit });
    this.security.record('login_throttled', { accountId, email: emailKey });
    const seconds = Math.max(1, Math.ceil((end.getTime() - this.clock.now().getTime()) / 1000));
    return new AppError('RATE_LIMITED', TOO_MANY_FAILURES, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}

export const TOO_MANY_FAILURES = 'Too many failed logins; retry later';

/** The keys of the two counters of an attempt. */
function countersOf({ emailKey, address }: Attempt): { pair: string; network: string } {
  const network = networkOf(address);
  return { pair: hash([emailKey, network]), network: hash([network]) };
}

/** Clients may send any text, of any length, as the e-mail. */
const hash = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
