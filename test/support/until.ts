import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something is the case. @param patience how long to wait, in milliseconds @throws Error with what was waited for, when it does not come about */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  patience = 20_000,
): Promise<void> {
  for (let waited = 0; waited < patience; waited += 20) {
    if (await isSo()) return;
    await sleep(20);
  }
  throw new Error(`It did not come about that ${what}`);
}
