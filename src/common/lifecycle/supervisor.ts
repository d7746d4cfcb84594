import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';

/** A worker that dies sooner than this, in milliseconds, has not really started. */
const SHORT_LIFE = 5000;

/** So many short lives in a row, and the fault is not the worker's. */
const PATIENCE = 5;

/**
 * One process that keeps a number of workers going: those that die are replaced, and SIGTERM, SIGINT and
 * SIGHUP drain them all.
 */
export class Supervisor {
  private stopping = false;
  private shortLives = 0;

  /** @param environment what workers get beside this process's own environment */
  constructor(
    private readonly size: number,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly logger: LoggerService,
  ) {}

  /** Resolves when all workers listen. */
  async start(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => void this.stop(signal));
    }
    await Promise.all(Array.from({ length: this.size }, () => this.startWorker()));
  }

  private async startWorker(): Promise<void> {
    const worker = cluster.fork(this.environment);
    const started = Date.now();
    worker.on('exit', (code, signal) => {
      if (!this.stopping && !worker.exitedAfterDisconnect)
        void this.replaceDead(worker, started, signal ?? code);
    });
    await once(worker, 'listening');
  }

  private async replaceDead({ process: { pid } }: Worker, started: number, reason: unknown): Promise<void> {
    this.shortLives = Date.now() - started < SHORT_LIFE ? this.shortLives + 1 : 0;
    if (this.shortLives >= PATIENCE) {
      this.logger.error(`Worker ${pid} ended with ${String(reason)}, as did those before it: giving up`);
      await this.stop('SIGTERM', 1);
      return;
    }
    this.logger.warn(`Worker ${pid} ended with ${String(reason)} and is replaced`);
    await sleep(this.shortLives * 500);
    if (!this.stopping) await this.startWorker();
  }

  private async stop(signal: NodeJS.Signals, code = 0): Promise<void> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    if (this.stopping) {
      for (const worker of workers) worker.process.kill('SIGKILL');
      process.exit(1);
    }
    this.stopping = true;
    this.logger.log(`${signal}: draining ${workers.length} workers`);
    await Promise.all(workers.map(drain));
    this.logger.log('Stopped');
    process.exit(code);
  }
}

async function drain(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const exit = once(worker, 'exit');
  worker.exitedAfterDisconnect = true;
  worker.process.kill('SIGTERM');
  await exit;
}
