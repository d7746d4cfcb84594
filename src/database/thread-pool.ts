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
  private pool: Piscina<Task, Result> | undefined;

  constructor(private readonly options: Options) {}

  /** @throws Error `NO_THREAD` when there is no thread to run the task */
  async run(task: Task): Promise<Result> {
    const pool = (this.pool ??= this.start());
    let result: Promise<Result>;
    try {
      result = pool.run(task);
    } catch (error) {
      // The system allows no further thread. This pool has kept the task, whose rejection nobody would handle.
      this.pool = undefined;
      throw noThread(error);
    }
    return result.catch((error: unknown) => {
      throw noThread(error);
    });
  }

  async close(): Promise<void> {
    const { pool } = this;
    this.pool = undefined;
    await pool?.destroy();
  }

  private start(): Piscina<Task, Result> {
    const pool = new Piscina<Task, Result>({ ...this.options, minThreads: 0, idleTimeout: IDLE });
    // A thread that fails before its first task has none to reject. Without another thread, the waiting tasks would wait
    // for ever; without a listener, the process would end.
    pool.on('error', () => {
      if (pool === this.pool && pool.threads.length === 0) void this.close();
    });
    return pool;
  }
}

const noThread = (cause: unknown) =>
  Object.assign(new Error('No thread could run the task', { cause }), { code: 'NO_THREAD' });
