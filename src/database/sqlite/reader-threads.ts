import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import type { PoolLoad } from '../database.js';
import type { Parameters } from '../statement.js';
import { ThreadPool } from '../thread-pool.js';
import type { Reading, ReadingResult } from './reader-thread.js';

/** Milliseconds, including the time in the queue. */
const DEADLINE = 8000;

/** One core stays free for other requests. */
const THREADS = Math.max(1, availableParallelism() - 1);

/** The number of reads that may wait for a thread. */
const QUEUE = 64;

/**
 * Slow reads. A statement of better-sqlite3 blocks its thread, so each of these runs on a
 * thread with its own connection.
 */
export class ReaderThreads {
  private readonly pool: ThreadPool<Reading, ReadingResult>;
  /** The number of running and waiting reads. */
  private count = 0;

  constructor(file: string) {
    this.pool = new ThreadPool({
      // The extension is that of this file: `.ts` in tests, `.js` when built.
      filename: new URL(`./reader-thread${extname(import.meta.url)}`, import.meta.url).href,
      workerData: { file },
      maxThreads: THREADS,
    });
  }

  /**
   * @throws Error `READ_TIMEOUT` after the deadline, or at once when too many reads are waiting, and as
   * {@link ThreadPool.run}
   */
  async all<Row>(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    if (this.pool.waitingCount >= QUEUE) throw timeout('Too many searches are waiting');
    this.count++;
    const result = await this.pool
      .run({ sql, parameters, deadline: Date.now() + DEADLINE })
      .finally(() => this.count--);
    if ('rows' in result) return result.rows as Row[];
    throw Object.assign(new Error(result.message), { code: result.code });
  }

  /** Each thread has one connection; a thread that has not started yet counts as idle. */
  get load(): PoolLoad {
    const used = Math.min(this.count, THREADS);
    return { name: 'search', max: THREADS, used, idle: THREADS - used, pending: this.count - used };
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}

const timeout = (message: string) => Object.assign(new Error(message), { code: 'READ_TIMEOUT' });
