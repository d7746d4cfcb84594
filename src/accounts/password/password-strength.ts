import { extname } from 'node:path';
import { networkOf } from '../../platform/http/client.js';
import { currentContext } from '../../platform/http/request-context.js';
import { WorkQueue } from '../../platform/http/work-queue.js';
import { ThreadPool } from '../../platform/database/thread-pool.js';
import type { Guess } from './password-strength-thread.js';

/** The number of passwords that may wait. */
const CAPACITY = 64;

/** The rest of a longer password can only make it harder to guess; the time grows with the square of the length. */
const MAX_LENGTH = 64;

/** Scores how hard passwords are to guess, on a thread: a password can take 200 milliseconds. */
export class PasswordStrength {
  private readonly queue = new WorkQueue<'score'>({
    concurrency: 1,
    capacity: CAPACITY,
    full: 'Too many new passwords are waiting; retry later',
  });
  private readonly threads = new ThreadPool<Guess, number>({
    // The extension is that of this file: `.ts` in tests, `.js` when built.
    filename: new URL(`./password-strength-thread${extname(import.meta.url)}`, import.meta.url).href,
    maxThreads: 1,
  });

  /**
   * @param hints what an attacker knows of the owner
   * @returns the score of zxcvbn, from 0 to 4
   */
  score(password: string, hints: readonly string[]): Promise<number> {
    const client = currentContext()?.client;
    return this.queue.run('score', client && networkOf(client.address), () =>
      this.threads.run({
        password: password.slice(0, MAX_LENGTH),
        hints: hints.map((hint) => hint.slice(0, MAX_LENGTH)),
      }),
    );
  }

  close(): Promise<void> {
    return this.threads.close();
  }
}
