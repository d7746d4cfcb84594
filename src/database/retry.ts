import { setTimeout as sleep } from 'node:timers/promises';
import { isCollision } from './failures.js';

/** How long a write is tried before it is given up, waiting for its turn included, in milliseconds. */
export const DEADLINE = 4000;

/** Runs it again, until the deadline, when the database reports that it lost against a concurrent transaction. */
export async function retryCollisions<T>(attempt: () => Promise<T>, start = Date.now()): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isCollision(error) || Date.now() - start > DEADLINE) throw error;
      // At random, lest the same two meet again.
      await sleep(5 + Math.random() * 20);
    }
  }
}
