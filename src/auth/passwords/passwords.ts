import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { hashPassword, isOutdated, isPasswordOf, NO_PASSWORD } from './argon2.js';
import { WorkQueue } from './work-queue.js';

/**
 * Each hash takes a core and 19 MiB. Node computes them on its pool of four threads, one of which stays free
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
    return this.queue.run(() => hashPassword(password));
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
      return isPasswordOf(hash, password);
    });
  }

  /** A hash by the parameters of today, where the given one was made with less work. */
  async renew(password: string, hash: string): Promise<string | undefined> {
    return isOutdated(hash) ? this.hash(password) : undefined;
  }
}
