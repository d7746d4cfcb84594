import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from '../../config/config.js';
import { Drain } from './drain.js';

/** From the signal to the exit, in milliseconds: what orchestrators allow, less a margin. */
const DEADLINE = 9_500;

/**
 * SIGTERM, SIGINT and SIGHUP drain the process: it reports itself as not ready, goes on serving for the drain
 * delay, then stops listening, finishes what is in flight and exits with 0, within 10 seconds. A second signal
 * exits at once.
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

    // Whoever is served in this time learns that the connection ends, and so misses nothing.
    await sleep(drainDelay);
    drain.close();
    // A connection whose last request is answered would be kept for the next one.
    setInterval(() => app.getHttpServer().closeIdleConnections(), 100).unref();
    await app.close();
    logger.log('Stopped');
    process.exit(0);
  };

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(signal));
  }
}
