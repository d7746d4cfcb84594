import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something is true that happens in the background. @throws Error after ten seconds */
export async function waitFor(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let waited = 0; waited < 10_000; waited += 20) {
    if (await condition()) return;
    await sleep(20);
  }
  throw new Error('It did not become true in ten seconds');
}
