import cluster from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from '../../config/config.js';
import { Drain } from './drain.js';

/** From the signal to the exit, in milliseconds: what orchestrators allow, less a margin. */
const DEADLINE = 9_500;

/** The message by which a {@link Supervisor} has a worker go while the service stays. */
export const RETIRE = 'retire';

/**
 * SIGTERM and SIGINT drain the process: it reports itself as not ready, goes on serving for the drain
 * delay, then stops listening, finishes what is in flight and exits with 0, within 10 seconds.
 * A second signal exits at once. A worker of a {@link Supervisor} hears SIGTERM from there only: Ctrl-C in a
 * terminal reaches the whole family at once. A worker that is to retire goes likewise, and refuses nothing.
 */
export function stopOnSignals(app: NestFastifyApplication): void {
  const logger = new Logger('Shutdown');
  const drain = app.get(Drain);
  const { drainDelay } = app.get(Config);

  const leave = async (): Promise<void> => {
    setTimeout(() => app.getHttpServer().closeAllConnections(), DEADLINE - 1000).unref();
    setTimeout(() => process.exit(0), DEADLINE).unref();

    // Whoever is served in this time learns that the connection ends, and so misses nothing.
    await sleep(drainDelay);
    if (drain.draining) drain.close();
    // A connection whose last request is answered would be kept for the next one.
    setInterval(() => app.getHttpServer().closeIdleConnections(), 100).unref();
    await app.close();
    await partFromSupervisor();
    logger.log('Stopped');
    process.exit(0);
  };

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (drain.draining) process.exit(1);
    const isRetiring = drain.leaving;
    drain.begin();
    logger.log(`${signal}: draining`);
    if (!isRetiring) await leave();
  };

  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void (cluster.isPrimary && stop(signal)));
  process.on('SIGHUP', (signal) => void (cluster.isPrimary && stop(signal)));
  process.on('message', (message) => {
    if (message !== RETIRE || drain.leaving) return;
    drain.retire();
    void leave();
  });
}

/**
 * A connection may be on its way here even after listening has ended. It is handed back, to another worker,
 * before the supervisor agrees to part; a process that just exits would take it along.
 */
async function partFromSupervisor(): Promise<void> {
  if (!cluster.worker?.isConnected()) return;
  const parted = once(process, 'disconnect');
  cluster.worker.disconnect();
  await parted;
}
