import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from '../config/config.js';
import { GuardedServer } from '../http/edge/guarded-server.js';
import { Drain } from './drain.js';
import { flushLog } from './log-output.js';

/** From the signal to the exit, in milliseconds: the usual limit of orchestrators, less a margin. */
const DEADLINE = 9_500;

/**
 * SIGTERM, SIGINT and SIGHUP drain the process: it reports itself as not ready, continues to serve for the drain
 * delay, then stops listening, finishes what is in flight and exits with 0. If that takes longer than the deadline,
 * it cuts off what is in flight and exits with 1, within 10 seconds. A second signal exits at once.
 */
export function stopOnSignals(app: NestFastifyApplication): void {
  const logger = new Logger('Shutdown');
  const drain = app.get(Drain);
  const { drainDelay } = app.get(Config);

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (drain.draining) process.exit(1);
    drain.begin();
    logger.log(`${signal}: draining`);
    let exitCode = 0;
    const cutOff = setTimeout(() => {
      exitCode = 1;
      logger.warn('The drain has reached its deadline: requests that are still running are cut off');
      app.getHttpServer().closeAllConnections();
    }, DEADLINE - 1000).unref();
    setTimeout(() => process.exit(1), DEADLINE).unref();

    // Connections stay open in this time: clients that connect after listening ends are reset.
    await sleep(drainDelay);
    drain.close();
    const server: unknown = app.getHttpServer();
    if (server instanceof GuardedServer) await server.stopListening();
    await app.close();
    clearTimeout(cutOff);
    logger.log('Stopped');
    await flushLog();
    process.exit(exitCode);
  };

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(signal));
  }
}
