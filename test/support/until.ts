import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until a condition is true.
 *
 * @param what the condition, for the message of the error
 * @param timeout how long to wait, in milliseconds: long by default, because a busy machine is slow
 * @throws Error when the condition is not true in time
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeout = 60_000,
): Promise<void> {
  let pause = 20;
  for (let waited = 0; waited < timeout; waited += pause) {
    if (await condition()) return;
    // A condition may be a request, which would take processor time from other tests.
    if (waited >= 1000) pause = 200;
    await sleep(pause);
  }
  throw new Error(`Timed out before ${what}`);
}
