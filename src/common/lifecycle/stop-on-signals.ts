import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from '../../config/config.js';
import { Drain } from './drain.js';

/** From the signal to the exit, in milliseconds: what orchestrators allow, less a margin. */
const DEADLINE = 9_500;

/**
 * SIGTERM and SIGINT drain the process: it reports itself as not ready, goes on serving for the drain
 * delay, then stops listening, finishes what is in flight and exits with 0, within 10 seconds.
 * A second signal exits at once. A worker of a {@link Supervisor} hears SIGTERM from there only: Ctrl-C in a
 * terminal reaches the whole family at once.
 */
export function stopOnSignals(app: NestFastifyApplication): void {
  const logger = new Logger('Shutdown');
  const drain = app.get(Drain);
  const { drainDelay } = app.get(Config);

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (drain.draining) process.exit(1);
    drain.begin();
    logger.log(`${signal}: draining`);
    setTimeout(() => app.getHttpServer().closeAllConnections(), DEADLINE - 1000).unref();
    setTimeout(() => process.exit(0), DEADLINE).unref();

    await sleep(drainDelay);
    drain.close();
    // A connection whose last request is answered would be kept for the next one.
    setInterval(() => app.getHttpServer().closeIdleConnections(), 100).unref();
    await app.close();
    logger.log('Stopped');
    process.exit(0);
  };

  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void (cluster.isPrimary && stop(signal)));
  process.on('SIGHUP', (signal) => void (cluster.isPrimary && stop(signal)));
}
