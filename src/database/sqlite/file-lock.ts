import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { SqliteStore } from '../../config/config.js';
import { makeDataFolder } from '../../config/data-folder.js';
import { DatabaseError } from '../failures.js';

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

/**
 * One service for a file: a second one would not see the first one's buffered data. Commands may use it, too.
 *
 * @throws DatabaseError when another service has the file open
 */
export function lockForService({ directory }: SqliteStore): FileLock {
  const lock = FileLock.acquire(join(directory, 'service.lock'), 0);
  if (!lock) throw new DatabaseError(`Another service has ${join(directory, 'database.sqlite')} open`);
  return lock;
}
