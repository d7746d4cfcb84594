import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Piscina } from 'piscina';
import type { PoolLoad } from '../database.js';
import type { Parameters } from '../statement.js';
import type { Reading, ReadingResult } from './reader-thread.js';

/** Milliseconds, including the time in the queue. */
const DEADLINE = 8000;

/** One core stays free for other requests. */
const THREADS = Math.max(1, availableParallelism() - 1);

/** The number of reads that may wait for a thread. */
const QUEUE = 64;

/** Idle threads end after this time, in milliseconds. */
const IDLE = 30_000;

/**
 * Slow reads. A statement of better-sqlite3 blocks its thread, so each of these runs on a
 * thread with its own connection.
 */
export class ReaderThreads {
  private pool: Piscina<Reading, ReadingResult> | undefined;
  /** The number of running and waiting reads. */
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

  /** Each thread has one connection; a thread that has not started yet counts as idle. */
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
