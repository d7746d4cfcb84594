import { setTimeout as sleep } from 'node:timers/promises';
import { isCollision } from './failures.js';

/** How long a write is retried, including the time that it waits for other writers, in milliseconds. */
export const DEADLINE = 4000;

/** Retries, until the deadline, when the database reports a conflict with a concurrent transaction. */
export async function retryCollisions<T>(attempt: () => Promise<T>, start = performance.now()): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isCollision(error) || performance.now() - start > DEADLINE) throw error;
      // A random delay, so that the same two do not conflict again.
      await sleep(5 + Math.random() * 20);
    }
  }
}
