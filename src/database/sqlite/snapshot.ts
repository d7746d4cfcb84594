import { closeSync, fsyncSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { DatabaseError } from '../failures.js';

/** Pages to copy between two reports of the progress. */
const PAGES = 2000;

/** How long another process may block reading, in milliseconds. */
const TIMEOUT = 30_000;

/** The number of copied pages, and of all pages. */
export type OnProgress = (done: number, total: number) => void;

/**
 * Copies a database while others may write: the copy has everything that was committed at the start, however long it
 * takes.
 *
 * @param to an existing empty file
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
    source = new Database(from, { readonly, fileMustExist: true, timeout: TIMEOUT });
    // Keeps this state readable. Without it, each write of another process would restart the copy.
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
 * Makes a single file of a database, without a write-ahead log, and checks its integrity.
 *
 * @param readonly whether only to check it
 * @param prepare changes the copy after the check
 * @throws DatabaseError when it is damaged, or not a database of this service
 */
export function verifyDatabase(
  file: string,
  { readonly = false, prepare }: { readonly?: boolean; prepare?: (database: Database.Database) => void } = {},
): void {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { fileMustExist: true, readonly });
    if (!readonly) database.pragma('journal_mode = DELETE');
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
  if (!readonly) flush(file);
}

export const unreadable = (file: string, cause: unknown) =>
  new DatabaseError(`${file} cannot be read as a database: ${(cause as Error).message}`, { cause });

const isOurs = (database: Database.Database): boolean =>
  database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'migrations'`).get() !== undefined;

/** Creates an empty file that only its owner can read. */
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
