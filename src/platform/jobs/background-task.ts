import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Config } from '../config/config.js';

/** How often the log says that runs fail, in milliseconds. */
const REMINDER = 60_000;

interface TaskOptions {
  readonly logger: Logger;
  /** What the log says when a run fails. */
  readonly failure: string;
  readonly run: () => unknown;
  /** The longest time from the end of a run to the next one, in milliseconds. `Infinity`: only when it is woken. */
  readonly interval: number;
  /** The shortest time from the end of a run to the next one, in milliseconds; read after each run. */
  readonly pause?: (beganAt: number) => number;
}

/**
 * Repeats work in the background: one run at a time, outside of the unit of work of whoever wakes it. A run that fails is
 * logged, at most once a minute while runs fail; the next one tries again.
 */
export class BackgroundTask {
  interval: number;

  /** A request may call `wake`; its context must not reach the runs. */
  protected readonly outside = AsyncLocalStorage.snapshot();
  private running: Promise<void> | undefined;
  /** When the log said last that runs fail; nothing while they succeed. */
  private reportedAt: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;
  /** The latest run that `wake` has asked for: earlier runs do not replace it. */
  private wokenAt = 0;
  /** When the next run may begin. */
  private notBefore = 0;
  protected stopped = true;

  /** @param tasks start and stop it */
  constructor(
    tasks: Pick<BackgroundTasks, 'add'>,
    private readonly task: TaskOptions,
  ) {
    this.interval = task.interval;
    tasks.add(this);
  }

  /** The first run follows after the interval, or when it is woken. */
  start(): void {
    this.stopped = false;
    this.runAt(performance.now() + this.interval);
  }

  /** Waits for the current run, and begins no other. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Runs soon. @param delay in milliseconds */
  wake(delay = 0): void {
    if (this.stopped) return;
    const dueAt = performance.now() + delay;
    this.wokenAt = Math.max(this.wokenAt, dueAt);
    this.runAt(dueAt);
  }

  /** Runs now, or after the current run, which may have missed what is new. */
  async runNow(): Promise<void> {
    while (this.running) await this.running;
    this.running = this.run();
    await this.running;
  }

  private async run(): Promise<void> {
    const { logger, failure, run, pause } = this.task;
    const beganAt = performance.now();
    try {
      await run();
      this.reportedAt = undefined;
    } catch (error) {
      if (beganAt >= (this.reportedAt ?? -Infinity) + REMINDER) {
        this.reportedAt = beganAt;
        logger.warn({ msg: failure, err: error });
      }
    }
    this.running = undefined;
    const now = performance.now();
    this.notBefore = now + (pause?.(beganAt) ?? 0);
    this.dueAt = Infinity;
    this.runAt(this.wokenAt > beganAt ? this.wokenAt : now + this.interval);
  }

  private runAt(time: number): void {
    const dueAt = Math.max(time, this.notBefore);
    if (this.stopped || dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    const delay = Math.max(0, dueAt - performance.now());
    // During a run, the end of it begins the next one.
    this.timer = this.outside(setTimeout, () => void (this.running ??= this.run()), delay).unref();
  }
}

/** Something that works in the background of a process that serves. */
interface Background {
  /** Is awaited before the start. */
  open?(): Promise<void>;
  start(): void;
  stop?(): unknown;
}

/** Starts and stops what works in the background. Commands, which run in the same application, do none of it. */
@Injectable()
export class BackgroundTasks implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly all: Background[] = [];
  private hasStarted = false;

  constructor(private readonly config: Config) {}

  /** @throws Error once the application has started: nothing would start it */
  add(background: Background): void {
    if (this.hasStarted)
      throw new Error('Add background work in a constructor or in onModuleInit: the application has started');
    this.all.push(background);
  }

  /** Adds work that is repeated. */
  repeat(task: TaskOptions): BackgroundTask {
    return new BackgroundTask(this, task);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.serves) return;
    for (const each of this.all) {
      await each.open?.();
      each.start();
    }
    this.hasStarted = true;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.all.map((each) => each.stop?.()));
  }
}
