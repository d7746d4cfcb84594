import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { RETIRE } from './stop-on-signals.js';

/** A worker that dies sooner than this, in milliseconds, has not really started. */
const SHORT_LIFE = 5000;

/** So many short lives in a row, and the fault is not the worker's. */
const PATIENCE = 5;

/**
 * One process that keeps a number of workers going: those that die are replaced, SIGHUP replaces all of them
 * one after the other, and SIGTERM and SIGINT drain them all.
 */
export class Supervisor {
  private stopping = false;
  private rolling = Promise.resolve();
  private shortLives = 0;

  /** @param environment what workers get beside this process's own environment */
  constructor(
    private readonly size: number,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly logger: LoggerService,
  ) {}

  /** Resolves when all workers listen. */
  async start(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.stop(signal));
    process.on('SIGHUP', () => {
      this.rolling = this.rolling.then(() => this.roll());
    });
    await Promise.all(Array.from({ length: this.size }, () => this.fill()));
  }

  /** Starts workers until there are enough. Resolves when this many listen. */
  private async fill(): Promise<void> {
    while (!this.stopping && living().length < this.size) await this.startWorker();
  }

  /** @returns whether the worker came to listen, rather than to its end */
  private startWorker(): Promise<boolean> {
    const worker = cluster.fork(this.environment);
    const started = Date.now();
    return new Promise((resolve) => {
      worker.once('listening', () => resolve(true));
      worker.once('exit', (code, signal) => {
        if (this.stopping || worker.exitedAfterDisconnect) resolve(false);
        else void this.mourn(worker, started, signal ?? code).then(() => resolve(false));
      });
    });
  }

  /** Sees to it that a worker that died is replaced, unless all of them die. */
  private async mourn({ process: { pid } }: Worker, started: number, reason: unknown): Promise<void> {
    this.logger.warn(`Worker ${pid} ended with ${String(reason)}`);
    if (living().length >= this.size) return;
    this.shortLives = Date.now() - started < SHORT_LIFE ? this.shortLives + 1 : 0;
    if (this.shortLives >= PATIENCE) {
      this.logger.error(`So did ${PATIENCE - 1} before it, as soon as they had started: giving up`);
      await this.stop('SIGTERM', 1);
    }
    await sleep(this.shortLives * 500);
    await this.fill();
  }

  /** Replaces the workers that there are: each goes once a new one listens, so that none is missed. */
  private async roll(): Promise<void> {
    const workers = living();
    this.logger.log(`SIGHUP: replacing ${workers.length} workers`);
    for (const worker of workers) {
      if (this.stopping) return;
      if (!(await this.startWorker())) {
        this.logger.error('A new worker did not start: the others stay as they are');
        return;
      }
      // Heard by the callback alone: to one that is just dying, nothing can be said.
      await end(worker, () => worker.send(RETIRE, () => undefined));
    }
    await this.fill();
    this.logger.log('All workers are replaced');
  }

  private async stop(signal: NodeJS.Signals, code = 0): Promise<void> {
    const workers = living();
    if (this.stopping) {
      for (const worker of workers) worker.process.kill('SIGKILL');
      process.exit(1);
    }
    this.stopping = true;
    this.logger.log(`${signal}: draining ${workers.length} workers`);
    await Promise.all(workers.map((worker) => end(worker, () => worker.process.kill('SIGTERM'))));
    this.logger.log('Stopped');
    process.exit(code);
  }
}

const living = (): Worker[] =>
  Object.values(cluster.workers ?? {}).filter(
    (worker): worker is Worker => worker !== undefined && !worker.isDead(),
  );

/** Resolves when the worker has ended as it was asked to. */
async function end(worker: Worker, ask: () => void): Promise<void> {
  if (worker.isDead()) return;
  const exit = once(worker, 'exit');
  worker.exitedAfterDisconnect = true;
  ask();
  await exit;
}
