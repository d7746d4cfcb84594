import { isStorageFault } from './failures.js';

/** The interval between two tests whether writes work again, in milliseconds. */
const PROBE_INTERVAL = 1000;

/** Stores that a write failed because the disk is full, read-only or broken, until writes work again. */
export class Storage {
  private isBroken = false;
  private lastProbe = -Infinity;

  /** Called with the error of each failed statement. */
  note(error: unknown): void {
    if (isStorageFault(error)) this.isBroken = true;
  }

  /** @param probe tests whether the database can write, without leaving rows */
  async works(probe: () => Promise<unknown>): Promise<boolean> {
    if (this.isBroken && performance.now() - this.lastProbe >= PROBE_INTERVAL) {
      this.lastProbe = performance.now();
      try {
        await probe();
        this.isBroken = false;
      } catch (error) {
        if (!isStorageFault(error)) throw error;
      }
    }
    return !this.isBroken;
  }
}
