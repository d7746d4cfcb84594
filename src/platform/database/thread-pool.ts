import { Piscina } from 'piscina';

/** A thread ends after this time without work, in milliseconds. */
const IDLE = 30_000;

interface Options {
  /** The address of the module whose default export runs a task. */
  readonly filename: string;
  readonly maxThreads: number;
  /** What each thread starts with. */
  readonly workerData?: object;
}

/**
 * Runs tasks that would block the event loop on threads, which start when there are tasks. When a thread cannot start or
 * ends early, for want of file descriptors or memory, only its tasks fail.
 */
export class ThreadPool<Task, Result> {
  private readonly threads: readonly Thread<Task, Result>[];

  constructor({ maxThreads, ...options }: Options) {
    this.threads = Array.from({ length: maxThreads }, () => new Thread<Task, Result>(options));
  }

  /** @throws Error `NO_THREAD` when there is no thread to run the task */
  run(task: Task): Promise<Result> {
    const thread = this.threads.reduce((best, other) => (other.taskCount < best.taskCount ? other : best));
    return thread.run(task);
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }
}

/**
 * A pool of one thread. A larger pool of Piscina starts threads also where nobody can handle that they do not start, and
 * keeps the task of such a thread among those that wait for the others.
 */
class Thread<Task, Result> {
  private pool: Piscina<Task, Result> | undefined;

  /** How many tasks run or wait. */
  taskCount = 0;

  constructor(private readonly options: Omit<Options, 'maxThreads'>) {}

  async run(task: Task): Promise<Result> {
    const pool = (this.pool ??= this.start());
    this.taskCount++;
    try {
      return await this.begin(pool, task);
    } catch (error) {
      this.replace(pool);
      throw Object.assign(new Error('No thread could run the task', { cause: error }), { code: 'NO_THREAD' });
    } finally {
      this.taskCount--;
    }
  }

  async close(): Promise<void> {
    const { pool } = this;
    this.pool = undefined;
    await pool?.destroy();
  }

  private start(): Piscina<Task, Result> {
    const pool = new Piscina<Task, Result>({
      ...this.options,
      // Otherwise each thread loads what `--import` has loaded into the process, such as all of OpenTelemetry.
      execArgv: [],
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE,
    });
    // A thread that fails before its first task has none to reject. Without a listener, the process would end.
    pool.on('error', () => this.replace(pool));
    return pool;
  }

  private begin(pool: Piscina<Task, Result>, task: Task): Promise<Result> {
    try {
      return pool.run(task);
    } catch (error) {
      // The thread did not start, but the pool has kept the task. To destroy the pool would reject it, unhandled.
      this.pool = undefined;
      throw error;
    }
  }

  /** Rejects the tasks that wait for a thread that has ended: only a further task would start another one. */
  private replace(pool: Piscina<Task, Result>): void {
    if (pool === this.pool && pool.threads.length === 0) void this.close();
  }
}
