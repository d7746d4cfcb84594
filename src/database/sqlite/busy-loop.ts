import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long reads keep the event loop busy before other requests get a turn, in milliseconds. */
const SLICE = 10;

/** `Infinity` if nothing was read in this turn of the event loop. */
let busySince = Infinity;

/**
 * Waits while the reads of this turn of the event loop have taken too long. A read of better-sqlite3 blocks the
 * process, so those of requests that arrive together would otherwise all run before anything else.
 */
export async function untilNotBusy(): Promise<void> {
  while (isBusy()) await nextTurn();
  if (busySince !== Infinity) return;
  busySince = performance.now();
  setImmediate(() => (busySince = Infinity));
}

const isBusy = (): boolean => performance.now() - busySince > SLICE;
