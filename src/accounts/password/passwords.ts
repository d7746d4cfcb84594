import { availableParallelism } from 'node:os';
import { Inject, Injectable, Optional } from '@nestjs/common';
import argon2 from 'argon2';
import { Gauge, type Registry } from 'prom-client';
import { networkOf } from '../../platform/http/client.js';
import { textFault } from '../../platform/http/validation/text.js';
import { WorkQueue } from '../../platform/http/work-queue.js';
import { NO_PASSWORD } from '../account.entity.js';

/** Parameters of argon2id (RFC 9106): memory in KiB, passes, lanes. */
export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

/** OWASP's minimum. It takes about 30 ms of one core. */
const STANDARD_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Injection token of another `PasswordCost`. No setting changes the cost; tests that hash many passwords lower it. */
export const PASSWORD_COST = Symbol('PasswordCost');

/**
 * Each hash takes a core and 19 MiB. Hashes run in Node's pool of four threads; one stays free
 * for other work, such as name resolution and file access.
 */
const CONCURRENCY = Math.min(availableParallelism(), 3);

/** How many passwords of one kind may wait: some seconds of work. Further ones are rejected with 503. */
const CAPACITY = 128;

/**
 * Hashes and compares passwords, few at once, so that the service stays responsive. New passwords wait in another
 * queue than logins, so that registrations cannot block logins.
 */
@Injectable()
export class Passwords {
  private readonly queue = new WorkQueue<'new' | 'login'>({
    concurrency: CONCURRENCY,
    capacity: CAPACITY,
    full: 'Too many requests with a password are waiting; retry later',
  });

  constructor(@Optional() @Inject(PASSWORD_COST) private readonly cost: PasswordCost = STANDARD_COST) {}

  /** Registers the metrics of hashing. */
  measure(registry: Registry): void {
    const { queue } = this;
    const registers = [registry];
    new Gauge({
      name: 'password_hashing_running',
      help: 'Passwords that are being hashed',
      registers,
      collect() {
        this.set(queue.runningCount);
      },
    });
    new Gauge({
      name: 'password_hashing_concurrency',
      help: 'Passwords that are hashed at the same time at most',
      registers,
    }).set(CONCURRENCY);
    new Gauge({
      name: 'password_hashing_waiting',
      help: 'Passwords that wait to be hashed: new ones, and those of logins',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const kind of ['new', 'login'] as const) this.set({ kind }, queue.waitingCount(kind));
      },
    });
    new Gauge({
      name: 'password_hashing_capacity',
      help: 'Passwords of one kind that may wait',
      registers,
    }).set(CAPACITY);
  }

  /**
   * Hashes a new password.
   *
   * @param address the client's address, if a client requested it
   */
  hash(password: string, address?: string): Promise<string> {
    return this.queue.run('new', networkAt(address), () => argon2.hash(preparePassword(password), this.cost));
  }

  /**
   * Whether the password matches the hash. Without a hash it returns false, after the same time.
   *
   * @param first runs right before the comparison, and prevents it by throwing
   */
  matches(
    password: string,
    hash: string = NO_PASSWORD,
    address?: string,
    first = async (): Promise<void> => undefined,
  ): Promise<boolean> {
    return this.queue.run('login', networkAt(address), async () => {
      await first();
      // Comparing an empty password, which no account has, takes as long as comparing another one.
      return argon2.verify(hash, isTooLong(password) ? '' : preparePassword(password));
    });
  }

  /** A new hash, if the given one was made with weaker parameters. */
  async renew(password: string, hash: string): Promise<string | undefined> {
    if (!argon2.needsRehash(hash, this.cost)) return undefined;
    return this.queue.run('login', undefined, () => argon2.hash(preparePassword(password), this.cost));
  }
}

/** In code points, after the password was prepared. */
export const PASSWORD_LENGTH = { min: 6, max: 1024 };

/**
 * Whether a password is too long in any form: composing a text at most halves the usual ones. Do not normalize such a
 * text: the time grows with the square of the length of a run of combining marks.
 */
export const isTooLong = (password: string): boolean =>
  textFault(password, { max: 2 * PASSWORD_LENGTH.max }) !== undefined;

/**
 * A password in the form in which it is hashed (RFC 8265, OpaqueString): the same password typed on two systems is the
 * same text. Other spaces become U+0020, and the text is composed (NFC).
 *
 * @param password unless {@link isTooLong}
 */
export const preparePassword = (password: string): string =>
  password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC');

/** The client that the wait counts for. */
const networkAt = (address: string | undefined): string | undefined =>
  address === undefined ? undefined : networkOf(address);
