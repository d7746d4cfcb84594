import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { Parameters } from './queries.js';

/** The only way to write. What it has resolved is on disk, and outlives the process and the power. */
export abstract class Transactions {
  /**
   * Runs a unit of work: all of it happens, or none. The work must write through the manager that it is
   * given, and may run more than once when it collides with another, so it does nothing else.
   */
  abstract run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;

  /** Runs one writing statement, which is a transaction by itself, and gives its `RETURNING` rows. */
  abstract execute<Row>(sql: string, parameters?: Parameters): Promise<Row[]>;
}

const ATTEMPTS = 5;

/** Runs it again when the database says that it lost against a concurrent transaction. */
export async function retryCollisions<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === ATTEMPTS || !isCollision(error)) throw error;
      // At random, lest the same two meet again.
      await sleep(Math.random() * 20 * tries);
    }
  }
}

/** PostgreSQL: serialization failure, deadlock. SQLite: another process is writing. */
function isCollision(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === '40001' || code === '40P01' || (typeof code === 'string' && code.startsWith('SQLITE_BUSY'));
}
