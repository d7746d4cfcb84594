import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { makeDataFolder } from '../../config/data-folder.js';

/**
 * A lock between processes that ends with its holder: an SQLite file in an exclusive
 * transaction, which the operating system releases when the process dies.
 */
export class FileLock {
  private constructor(private readonly holder: Database.Database) {}

  /** @param timeout how long to wait for another holder, in milliseconds
   *  @returns the lock, or `undefined` when another process holds it */
  static acquire(file: string, timeout: number): FileLock | undefined {
    makeDataFolder(dirname(file));
    const holder = new Database(file, { timeout: timeout });
    try {
      // A journal would need space on the disk.
      holder.pragma('journal_mode = MEMORY');
      holder.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      const { code = '' } = error as { code?: string };
      // On a read-only disk there is nothing to protect: no process can write.
      if (code.startsWith('SQLITE_READONLY')) return new FileLock(holder);
      holder.close();
      if (code === 'SQLITE_BUSY') return undefined;
      throw error;
    }
    return new FileLock(holder);
  }

  release(): void {
    this.holder.close();
  }
}
