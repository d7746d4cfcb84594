import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { Clock } from '../../common/clock/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { Transactions } from '../../database/transactions.js';
import { LoginFailure } from './login-failure.entity.js';

/** Failures of one pair of account and address within the window, after which it has to wait. */
const LIMIT = 20;

/** From the first failure, in milliseconds. */
const WINDOW = 5 * 60_000;

/** Someone who tries to log in; the account need not exist. */
export interface Attempt {
  readonly emailKey: string;
  readonly address: string;
}

/**
 * Counts failed logins for each pair of account and client address: guessing is slow from one address, and
 * nobody can lock an account's owner out from another. It is kept in the database, for all replicas.
 */
@Injectable()
export class LoginThrottle {
  constructor(
    @InjectRepository(LoginFailure) private readonly failures: Repository<LoginFailure>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `RATE_LIMITED` when the pair has to wait */
  async refuseWhileBlocked(attempt: Attempt): Promise<void> {
    const now = this.clock.now();
    const failure = await this.failures.findOneBy({ id: idOf(attempt), expiresAt: MoreThan(now) });
    if (failure && failure.failures >= LIMIT) throw rateLimited(failure.expiresAt, now);
  }

  /**
   * Counts an attempt as a failure before its outcome is known, so that many at once are not more than the
   * limit. {@link clear} takes it back.
   *
   * @throws AppError `RATE_LIMITED` when there were too many
   */
  async count(attempt: Attempt): Promise<void> {
    const now = this.clock.now();
    // SQL, because an upsert of TypeORM sets a column to the new value, and not to one that depends on the old.
    const [row] = await this.transactions.execute<{ failures: number; expires_at: string }>(
      `INSERT INTO login_failures AS f (id, failures, expires_at) VALUES (:id, 1, :end)
       ON CONFLICT (id) DO UPDATE SET
         failures = CASE WHEN f.expires_at > :now THEN f.failures + 1 ELSE 1 END,
         expires_at = CASE WHEN f.expires_at > :now THEN f.expires_at ELSE excluded.expires_at END
       RETURNING failures, expires_at`,
      {
        id: idOf(attempt),
        now: now.toISOString(),
        end: new Date(now.getTime() + WINDOW).toISOString(),
      },
    );
    if (row!.failures > LIMIT) throw rateLimited(new Date(row!.expires_at), now);
  }

  /** The password was right: the count starts again. */
  async clear(attempt: Attempt): Promise<void> {
    await this.failures.delete({ id: idOf(attempt) });
  }
}

function rateLimited(end: Date, now: Date): AppError {
  const seconds = Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 1000));
  return new AppError('RATE_LIMITED', 'Too many failed logins, please wait', {
    headers: { 'retry-after': String(seconds) },
  });
}

/** What people type into the field of the e-mail may be anything, and of any length. */
const idOf = ({ emailKey, address }: Attempt): string =>
  createHash('sha256')
    .update(JSON.stringify([emailKey, address]))
    .digest('base64url');
