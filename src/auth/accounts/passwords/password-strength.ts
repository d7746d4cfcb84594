import { extname } from 'node:path';
import { Piscina } from 'piscina';
import { AppError } from '../../../common/errors/errors.js';
import type { Guess } from './password-strength-thread.js';

/** The number of passwords that may wait. */
const QUEUE = 64;

/** The thread ends after this time without work, in milliseconds. */
const IDLE = 30_000;

/** The rest of a longer password can only make it harder to guess; the time grows with the square of the length. */
const MAX_LENGTH = 72;

/** Scores how hard passwords are to guess, on a thread: a password can take 200 milliseconds. */
export class PasswordStrength {
  private pool: Piscina<Guess, number> | undefined;

  /**
   * @param hints what an attacker knows of the owner
   * @returns the score of zxcvbn, from 0 to 4
   * @throws AppError `SERVICE_UNAVAILABLE` when too many passwords are waiting
   */
  async score(password: string, hints: readonly string[]): Promise<number> {
    const pool = (this.pool ??= this.start());
    if (pool.queueSize >= QUEUE) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many new passwords are waiting; retry later');
    }
    return pool.run({
      password: password.slice(0, MAX_LENGTH),
      hints: hints.map((hint) => hint.slice(0, MAX_LENGTH)),
    });
  }

  async close(): Promise<void> {
    await this.pool?.destroy();
    this.pool = undefined;
  }

  private start(): Piscina<Guess, number> {
    return new Piscina({
      // The extension is that of this file: `.ts` in tests, `.js` when built.
      filename: new URL(`./password-strength-thread${extname(import.meta.url)}`, import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE,
    });
  }
}
