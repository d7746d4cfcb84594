import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@nestjs/common';
import { BackgroundTask, type BackgroundTasks } from './background-task.js';

/** The longest time between two polls, in milliseconds: for retries, and for jobs that another process has left. */
const INTERVAL = 1000;

/** How long a stopping process waits for its jobs, in milliseconds; others repeat them when their leases expire. */
const STOP_TIMEOUT = 3000;

/**
 * Does the jobs of a queue in the database, in the background. A job is claimed with a lease that lasts longer than its
 * attempt, so any number of processes may poll: one makes each attempt, and another takes over when it dies.
 */
export abstract class Poller<Job> extends BackgroundTask {
  private readonly jobs = new Map<Promise<void>, Job>();

  /**
   * @param queue its name, for the log
   * @param concurrency the most jobs that the process does at a time
   */
  constructor(
    tasks: Pick<BackgroundTasks, 'add'>,
    protected readonly logger: Logger,
    private readonly queue: string,
    private readonly concurrency = Infinity,
  ) {
    super(tasks, {
      logger,
      failure: `The queue of ${queue} cannot be read for now`,
      interval: INTERVAL,
      run: () => this.claimAll(),
    });
  }

  /** Claims due jobs; the next claim follows at once, until there are none. @param running the jobs in progress */
  abstract claim(running: readonly Job[]): Promise<readonly Job[]>;

  /** Does a claimed job, and records the result. After an error, it is claimed again when its lease has expired. */
  abstract work(job: Job): Promise<void>;

  protected get isWorking(): boolean {
    return this.jobs.size > 0;
  }

  override async stop(): Promise<void> {
    const abort = new AbortController();
    const timeout = sleep(STOP_TIMEOUT, undefined, { signal: abort.signal }).catch(() => undefined);
    const ended = super.stop().then(() => Promise.all(this.jobs.keys()));
    await Promise.race([ended, timeout]);
    abort.abort();
  }

  /** Polls now, and waits for the jobs that this begins. */
  async poll(): Promise<void> {
    const before = new Set(this.jobs.keys());
    await this.runNow();
    await Promise.all([...this.jobs.keys()].filter((job) => !before.has(job)));
  }

  private async claimAll(): Promise<void> {
    while (!this.stopped && this.jobs.size < this.concurrency) {
      const jobs = await this.claim([...this.jobs.values()]);
      for (const job of jobs) this.do(job);
      if (jobs.length === 0) return;
    }
  }

  private do(job: Job): void {
    const { queue } = this;
    const running = this.work(job)
      .catch((error: unknown) => this.logger.warn({ msg: 'A job will be repeated', queue, err: error }))
      .finally(() => {
        this.jobs.delete(running);
        this.wake();
      });
    this.jobs.set(running, job);
  }
}
