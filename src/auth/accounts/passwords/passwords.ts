import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import argon2 from 'argon2';
import { WorkQueue } from './work-queue.js';

/** OWASP's minimum for argon2id (RFC 9106): memory in KiB, passes over it, lanes. About 30 ms of one core. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The hash of no password: comparing with it takes as long as with a real one, and always fails. */
export const NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/**
 * Each hash takes a core and 19 MiB. They are computed on Node's pool of four threads, one of which stays free
 * for all else that needs it: looking up names, reading files.
 */
const CONCURRENCY = Math.min(availableParallelism(), 3);

/** Some seconds of waiting; whoever comes later is told to come back. */
const CAPACITY = 128;

/** Hashes and compares passwords; so few at once that the service stays responsive. */
@Injectable()
export class Passwords {
  private readonly queue = new WorkQueue(CONCURRENCY, CAPACITY);

  /** @throws AppError `SERVICE_UNAVAILABLE` when too many are waiting already */
  hash(password: string): Promise<string> {
    return this.queue.run(() => argon2.hash(password, PARAMETERS));
  }

  /**
   * Whether it is the password behind the hash; without a hash it never is, and takes as long.
   *
   * @param first runs right before the work, which it prevents by throwing
   * @throws AppError `SERVICE_UNAVAILABLE` when too many are waiting already
   */
  matches(
    password: string,
    hash: string = NO_PASSWORD,
    first = async (): Promise<void> => undefined,
  ): Promise<boolean> {
    return this.queue.run(async () => {
      await first();
      return argon2.verify(hash, password);
    });
  }

  /** A hash by the parameters of today, where the given one was made with less work. */
  async renew(password: string, hash: string): Promise<string | undefined> {
    return argon2.needsRehash(hash, PARAMETERS) ? this.hash(password) : undefined;
  }
}
