import { isMovedFile, isStorageFault } from './failures.js';

/** The interval between two tests whether writes work again, in milliseconds. */
const PROBE_INTERVAL = 1000;

const MOVED =
  'the database file was deleted or replaced while the service has it open: put it back, or stop the service and restore it';
const NOT_WRITABLE = 'the disk of the database is full, read-only or broken: reading works, writing does not';

/** Stores that a write failed because the disk is full, read-only or broken, until writes work again. */
export class Storage {
  private error: unknown;
  private lastProbe = -Infinity;

  /** Called with the error of each failed statement. */
  note(error: unknown): void {
    if (isStorageFault(error)) this.error = error;
  }

  /**
   * What is wrong; undefined if writes work.
   *
   * @param probe tests whether the database can write, without leaving rows
   */
  async fault(probe: () => Promise<unknown>): Promise<string | undefined> {
    if (this.error !== undefined && performance.now() - this.lastProbe >= PROBE_INTERVAL) {
      this.lastProbe = performance.now();
      try {
        await probe();
        this.error = undefined;
      } catch (error) {
        if (!isStorageFault(error)) throw error;
        this.error = error;
      }
    }
    if (this.error === undefined) return undefined;
    return isMovedFile(this.error) ? MOVED : NOT_WRITABLE;
  }
}
