import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BeforeApplicationShutdown, Logger, OnApplicationBootstrap } from '@nestjs/common';

/** How long a stopping process waits for its jobs, in milliseconds; others repeat them when their leases expire. */
const STOP_TIMEOUT = 3000;

/**
 * Does the jobs of a queue in the database, in the background. A job is claimed with a lease that lasts longer than its
 * attempt, so any number of processes may poll: one makes each attempt, and another takes over when it dies.
 */
export abstract class Poller<Job> implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** The longest time between two polls, in milliseconds: for retries, and for jobs that another process has left. */
  interval = 1000;

  private readonly running = new Map<Promise<void>, Job>();
  /** A request may call `wake`; its context must not reach the jobs. */
  private readonly outside = AsyncLocalStorage.snapshot();
  private claiming: Promise<void> | undefined;
  private isAwake = false;
  private isFailing = false;
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;
  /** The latest poll that `wake` was called for: earlier polls do not replace it. */
  private wokenAt = 0;
  protected stopped = true;

  /**
   * @param queue its name, for the log
   * @param concurrency the most jobs that the process does at a time
   */
  constructor(
    protected readonly logger: Logger,
    private readonly queue: string,
    private readonly concurrency = Infinity,
  ) {}

  /** Claims due jobs; the next claim follows at once, until there are none. @param running the jobs in progress */
  abstract claim(running: readonly Job[]): Promise<readonly Job[]>;

  /** Does a claimed job, and records the result. After an error, it is claimed again when its lease has expired. */
  abstract work(job: Job): Promise<void>;

  protected get isWorking(): boolean {
    return this.running.size > 0;
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  start(): void {
    this.stopped = false;
    this.pollAt(performance.now() + this.interval);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    const abort = new AbortController();
    const timeout = sleep(STOP_TIMEOUT, undefined, { signal: abort.signal }).catch(() => undefined);
    await Promise.race([this.finish(), timeout]);
    abort.abort();
  }

  /** Polls soon: call it when there is a new job. @param delay in milliseconds */
  wake(delay = 0): void {
    if (this.stopped) return;
    const dueAt = performance.now() + delay;
    this.wokenAt = Math.max(this.wokenAt, dueAt);
    this.pollAt(dueAt);
  }

  /** Polls now, and waits for the jobs that this begins. */
  async poll(): Promise<void> {
    const before = new Set(this.running.keys());
    await this.beginDue();
    await Promise.all([...this.running.keys()].filter((job) => !before.has(job)));
  }

  /** One claim at a time; a call during a claim makes it look again. */
  private beginDue(): Promise<void> {
    this.dueAt = Infinity;
    this.isAwake = true;
    return (this.claiming ??= this.claimAll().finally(() => {
      this.claiming = undefined;
      const now = performance.now();
      this.pollAt(this.wokenAt > now ? this.wokenAt : now + this.interval);
    }));
  }

  private pollAt(dueAt: number): void {
    if (this.stopped || dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    const delay = Math.max(0, dueAt - performance.now());
    this.timer = this.outside(setTimeout, () => void this.beginDue(), delay).unref();
  }

  private async claimAll(): Promise<void> {
    try {
      while (this.isAwake && !this.stopped) {
        this.isAwake = false;
        if (this.running.size >= this.concurrency) return;
        const jobs = await this.claim([...this.running.values()]);
        for (const job of jobs) this.begin(job);
        this.isAwake ||= jobs.length > 0;
      }
      this.isFailing = false;
    } catch (error) {
      const { queue, isFailing } = this;
      // Once for each outage, not at each poll.
      if (!isFailing) this.logger.warn({ msg: 'A queue cannot be read for now', queue, err: error });
      this.isFailing = true;
    }
  }

  private begin(job: Job): void {
    const { queue } = this;
    const running = this.work(job)
      .catch((error: unknown) => this.logger.warn({ msg: 'A job will be repeated', queue, err: error }))
      .finally(() => {
        this.running.delete(running);
        this.wake();
      });
    this.running.set(running, job);
  }

  private async finish(): Promise<void> {
    await this.claiming;
    await Promise.all(this.running.keys());
  }
}
