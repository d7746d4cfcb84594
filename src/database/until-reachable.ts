import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { isOutage } from './failures.js';

/** The service waits for a database that starts at the same time: this number of attempts, a second apart. */
const ATTEMPTS = 15;

/** Retries while the database is unavailable. @throws the error of the last attempt; at once, if it is no outage */
export async function untilReachable<T>(
  attempt: () => Promise<T>,
  logger: Pick<LoggerService, 'warn'>,
): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (count === ATTEMPTS || !isOutage(error)) throw error;
      const reason = (error as Error).message || (error as NodeJS.ErrnoException).code;
      logger.warn(`The database does not respond yet (${reason}), attempt ${count} of ${ATTEMPTS}`);
      await sleep(1000);
    }
  }
}
