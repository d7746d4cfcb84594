import { closeSync, fsyncSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { DatabaseError } from '../database.error.js';

/** Pages that are copied between two looks at the progress. */
const PAGES = 2000;

/** How long another process may keep us from reading, in milliseconds. */
const PATIENCE = 30_000;

/** How many pages of a database are copied, of how many. */
export type OnProgress = (done: number, total: number) => void;

/**
 * Copies a database, also while others write to it: the copy is what had been committed at the start, however long it
 * takes.
 *
 * @param to a file that is there and empty
 * @throws DatabaseError when it cannot be read
 */
export async function copyDatabase(
  from: string,
  to: string,
  onProgress: OnProgress,
  { readonly = false } = {},
): Promise<void> {
  let source: Database.Database | undefined;
  try {
    source = new Database(from, { readonly, fileMustExist: true, timeout: PATIENCE });
    // Holds the state of this moment. Without it, each write of another process would start the copy again.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_master').get();
    await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages - remainingPages, totalPages);
        return PAGES;
      },
    });
  } catch (error) {
    throw unreadable(from, error);
  } finally {
    source?.close();
  }
}

/**
 * Makes a single file of a database, without a write-ahead log beside it, and checks all of it.
 *
 * @param prepare changes it after the check
 * @throws DatabaseError when it is damaged, or not one of this service
 */
export function verifyDatabase(file: string, prepare?: (database: Database.Database) => void): void {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { fileMustExist: true });
    database.pragma('journal_mode = DELETE');
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw new DatabaseError(`The database in ${file} is damaged: ${String(found)}`);
    if (!isOurs(database)) throw new DatabaseError(`${file} is not a database of this service`);
    prepare?.(database);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw unreadable(file, error);
  } finally {
    database?.close();
  }
  flush(file);
}

const unreadable = (file: string, cause: unknown) =>
  new DatabaseError(`${file} cannot be read as a database: ${(cause as Error).message}`, { cause });

const isOurs = (database: Database.Database): boolean =>
  database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'migrations'`).get() !== undefined;

/** Makes an empty file that only its owner can read. */
export function createPrivate(file: string): void {
  closeSync(openSync(file, 'wx', 0o600));
}

/** Waits until a file, or the names in a folder, are on disk. */
export function flush(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
