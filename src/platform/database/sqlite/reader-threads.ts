import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import type { StatementParameters } from '../statement.js';
import { ThreadPool } from '../thread-pool.js';
import type { Reading, ReadingResult } from './reader-thread.js';

/** How long a statement may read, in milliseconds. */
const TIMEOUT = 8000;

/** One core stays free for other requests. */
export const THREADS = Math.max(1, availableParallelism() - 1);

/**
 * Slow reads. A statement of better-sqlite3 blocks its thread, so each of these runs on a
 * thread with its own connection.
 */
export class ReaderThreads {
  private readonly pool: ThreadPool<Reading, ReadingResult>;
  private running = 0;

  constructor(file: string) {
    this.pool = new ThreadPool({
      // The extension is that of this file: `.ts` in tests, `.js` when built.
      filename: new URL(`./reader-thread${extname(import.meta.url)}`, import.meta.url).href,
      workerData: { file },
      maxThreads: THREADS,
    });
  }

  /** @throws Error `READ_TIMEOUT` when it reads for too long, and as {@link ThreadPool.run} */
  async all<Row>(sql: string, parameters: StatementParameters = {}): Promise<Row[]> {
    this.running++;
    const result = await this.pool.run({ sql, parameters, timeout: TIMEOUT }).finally(() => this.running--);
    if ('rows' in result) return result.rows as Row[];
    throw Object.assign(new Error(result.message), { code: result.code });
  }

  /** The number of threads that read. */
  get used(): number {
    return Math.min(this.running, THREADS);
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}
