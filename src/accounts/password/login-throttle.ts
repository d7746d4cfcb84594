import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { TOO_MANY_CODES, TOO_MANY_FAILURES } from '../../platform/access/index.js';
import { networkOf } from '../../platform/http/client.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { counterId, Counters, type Limit } from '../counters.js';

const MINUTE = 60_000;

/** After how many failures further attempts are rejected, until a window ends that the first failure begins. */
const LIMITS = {
  /** Of an account, from one network. */
  pair: { max: 20, period: 5 * MINUTE },
  /** From one network, over all accounts. */
  network: { max: 300, period: 5 * MINUTE },
  /** Of codes of the app of an account, from anywhere: six digits can be guessed (NIST SP 800-63B, section 5.2.2). */
  codes: { max: 10, period: 60 * MINUTE },
} as const satisfies Record<string, Limit>;

type LimitName = keyof typeof LIMITS;

/** Somebody who tries to log in. */
export interface LoginAttempt {
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
  readonly counters: readonly { readonly id: string; readonly limit: LimitName; readonly expiresAt: Date }[];
}

/**
 * Counts failed logins for each pair of account and client network, for each network over all accounts, and wrong codes
 * for each account. It slows down guessing; a password of an account's owner goes on working elsewhere.
 */
@Injectable()
export class LoginThrottle {
  private readonly throttled: Counter;

  constructor(
    private readonly counters: Counters,
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

  async assertNotBlocked(attempt: LoginAttempt): Promise<void> {
    const limits = limitsOf(attempt);
    const counts = await this.counters.find(limits.map(({ id }) => id));
    for (const { id, limit } of limits) {
      const found = counts.find((each) => each.id === id);
      if (found && found.count >= LIMITS[limit].max) throw this.rateLimited(attempt, limit, found.expiresAt);
    }
  }

  /**
   * Counts an attempt as a failure before its outcome is known, so that concurrent attempts cannot exceed
   * the limit. {@link succeed} and {@link revert} revert it.
   */
  async count(attempt: LoginAttempt): Promise<CountedAttempt> {
    const limits = limitsOf(attempt);
    const counts = await this.counters.add(limits.map(({ id, limit }) => ({ id, ...LIMITS[limit] })));
    const counted = limits.map(({ limit }, n) => ({ limit, ...counts[n]! }));
    for (const { limit, count, expiresAt } of counted) {
      if (count > LIMITS[limit].max) throw this.rateLimited(attempt, limit, expiresAt);
    }
    const codes = counted.find(({ limit }) => limit === 'codes')?.count ?? 0;
    return { codes, counters: counted };
  }

  /**
   * Reverts {@link count}. A right code resets the counter of codes; what has failed otherwise stays counted.
   *
   * @param clearsPair whether the counter of account and network is reset: with a second factor, not before its code
   */
  async succeed({ counters }: CountedAttempt, { clearsPair }: { clearsPair: boolean }): Promise<void> {
    // One statement for all would lock them in any order, and so cause deadlocks with those of other attempts.
    for (const { id, limit, expiresAt } of counters) {
      if (limit === 'codes' || (limit === 'pair' && clearsPair)) await this.counters.reset(id);
      else await this.counters.giveBack(id, expiresAt);
    }
  }

  /** Reverts {@link count} of an attempt that could not be checked. */
  async revert({ counters }: CountedAttempt): Promise<void> {
    for (const { id, expiresAt } of counters) await this.counters.giveBack(id, expiresAt);
  }

  private rateLimited({ emailKey, accountId }: LoginAttempt, limit: LimitName, end: Date): AppError {
    this.throttled.inc({ limit });
    this.security.record('login_throttled', { accountId, email: emailKey });
    return new AppError('RATE_LIMITED', limit === 'codes' ? TOO_MANY_CODES : TOO_MANY_FAILURES, {
      headers: { 'retry-after': String(this.counters.secondsUntil(end)) },
    });
  }
}

/** The limits of an attempt, in the order in which all attempts lock their counters. */
function limitsOf({
  address,
  emailKey,
  accountId,
  isCode,
}: LoginAttempt): { id: string; limit: LimitName }[] {
  const network = networkOf(address);
  return [
    ...(emailKey === undefined
      ? []
      : [{ limit: 'pair' as const, id: counterId('failures of', emailKey, network) }]),
    { limit: 'network', id: counterId('failures from', network) },
    ...(isCode ? [{ limit: 'codes' as const, id: counterId('codes', accountId) }] : []),
  ];
}
