import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { SqliteStore } from '../../config/config.js';
import { makeDataFolder, makeFilePrivate } from '../../config/data-folder.js';
import { DatabaseError } from '../failures.js';

/**
 * A lock between processes that ends with its holder: an SQLite file in an exclusive
 * transaction, which the operating system releases when the process dies.
 */
export class FileLock {
  private connection: Database.Database | undefined;
  private isHeld = false;

  private constructor(private readonly file: string) {}

  /** @param timeout how long to wait for another holder, in milliseconds
   *  @returns the lock, or `undefined` when another process holds it */
  static acquire(file: string, timeout: number): FileLock | undefined {
    makeDataFolder(dirname(file));
    makeFilePrivate(file);
    const lock = new FileLock(file);
    return lock.take(timeout) ? lock : undefined;
  }

  /** Takes the lock if the disk was read-only before. @returns false when another process holds it */
  renew(): boolean {
    return this.isHeld || this.take(0);
  }

  release(): void {
    this.connection?.close();
  }

  private take(timeout: number): boolean {
    this.release();
    this.connection = new Database(this.file, { timeout });
    try {
      // A journal would need space on the disk.
      this.connection.pragma('journal_mode = MEMORY');
      this.connection.exec('BEGIN EXCLUSIVE');
      this.isHeld = true;
    } catch (error) {
      const { code = '' } = error as { code?: string };
      // On a read-only disk there is nothing to protect: no process can write.
      if (code.startsWith('SQLITE_READONLY')) return true;
      this.release();
      if (code === 'SQLITE_BUSY') return false;
      throw error;
    }
    return true;
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
