import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { isOutage } from './failures.js';

/** A database that starts together with the service is waited for: this often, a second apart. */
const ATTEMPTS = 15;

/** Tries again while the database is away, for some seconds. @throws what the last attempt met, or a fault at once */
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
