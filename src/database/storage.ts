import { isStorageFault } from './failures.js';

/** Between two attempts to find out whether writing works again, in milliseconds. */
const PROBE_INTERVAL = 1000;

/** Remembers that a write met a disk that is full, read-only or broken, until writing works again. */
export class Storage {
  private isBroken = false;
  private lastProbe = 0;

  /** Sees the error of each statement that fails. */
  note(error: unknown): void {
    if (isStorageFault(error)) this.isBroken = true;
  }

  /** @param probe writes something that takes room, and leaves nothing behind */
  async works(probe: () => Promise<unknown>): Promise<boolean> {
    if (this.isBroken && Date.now() - this.lastProbe >= PROBE_INTERVAL) {
      this.lastProbe = Date.now();
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
