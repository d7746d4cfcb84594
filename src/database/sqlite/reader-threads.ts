import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Piscina } from 'piscina';
import type { PoolLoad } from '../database.js';
import type { Parameters } from '../parameters.js';
import type { Reading, ReadingResult } from './reader-thread.js';

/** Milliseconds, with the time in the queue. */
const DEADLINE = 8000;

/** One core is left to the requests that need none of this. */
const THREADS = Math.max(1, availableParallelism() - 1);

/** Reads that wait for a thread. */
const QUEUE = 64;

/** After which a thread that has nothing to do ends, in milliseconds. */
const IDLE = 30_000;

/**
 * Reads that may be slow. A statement of better-sqlite3 blocks the thread it runs on, so each of these runs on a
 * thread with a connection of its own.
 */
export class ReaderThreads {
  private pool: Piscina<Reading, ReadingResult> | undefined;
  /** Reads that run or wait. */
  private count = 0;

  constructor(private readonly file: string) {}

  /** @throws Error `READ_TIMEOUT` after the deadline, or at once when too many reads are waiting */
  async all<Row>(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    const pool = (this.pool ??= this.start());
    if (pool.queueSize >= QUEUE) throw timeout('Too many searches are waiting');
    this.count++;
    const result = await pool
      .run({ sql, parameters, deadline: Date.now() + DEADLINE })
      .finally(() => this.count--);
    if ('rows' in result) return result.rows as Row[];
    throw Object.assign(new Error(result.message), { code: result.code });
  }

  /** A thread is a connection; one that has not started yet counts as idle. */
  get load(): PoolLoad {
    const used = Math.min(this.count, THREADS);
    return { name: 'search', max: THREADS, used, idle: THREADS - used, pending: this.count - used };
  }

  async close(): Promise<void> {
    await this.pool?.destroy();
    this.pool = undefined;
  }

  private start(): Piscina<Reading, ReadingResult> {
    return new Piscina({
      // The extension is that of this file: `.ts` in tests, `.js` when built.
      filename: new URL(`./reader-thread${extname(import.meta.url)}`, import.meta.url).href,
      workerData: { file: this.file },
      minThreads: 0,
      maxThreads: THREADS,
      maxQueue: QUEUE,
      idleTimeout: IDLE,
    });
  }
}

const timeout = (message: string) => Object.assign(new Error(message), { code: 'READ_TIMEOUT' });
