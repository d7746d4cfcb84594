import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { SqliteStore } from '../../config/config.js';
import { DatabaseError } from '../failures.js';
import type { RestoreStatement } from '../statement.js';
import { compareChecksum, isDatabase } from './checksum.js';
import { databaseFile } from './data-source.js';
import { FileLock } from './file-lock.js';
import { copyDatabase, createPrivate, flush, type OnProgress, verifyDatabase } from './snapshot.js';

/** The further files of a database. */
const SUFFIXES = ['-wal', '-shm', '-journal'];

/**
 * Replaces the embedded database by a verified backup. If it is killed at any moment, either the old
 * database or the new one is there.
 *
 * @param statement run on the new database before it replaces the old one
 * @returns the file with the former database, if there was one
 * @throws DatabaseError when the folder is in use, or the backup is invalid
 */
export async function restoreDatabase(
  store: SqliteStore,
  backup: string,
  statement: () => RestoreStatement,
  onProgress: OnProgress,
): Promise<string | undefined> {
  if (!existsSync(backup)) throw new DatabaseError(`There is no file ${backup}`);
  const lock = FileLock.acquire(join(store.directory, 'service.lock'), 0);
  if (!lock) throw inUse(store);
  const draft = join(store.directory, 'database.sqlite.restoring');
  try {
    rmSync(draft, { force: true });
    createPrivate(draft);
    await compareChecksum(backup);
    await copyDatabase(backup, draft, onProgress, { readonly: true });
    verifyDatabase(draft, { prepare: (database) => run(database, statement()) });
    return await replace(store, draft);
  } finally {
    rmSync(draft, { force: true });
    lock.release();
  }
}

function run(database: Database.Database, { table, sql }: RestoreStatement): void {
  if (database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table)) database.exec(sql);
}

async function replace(store: SqliteStore, draft: string): Promise<string | undefined> {
  const file = databaseFile(store);
  let kept: string | undefined;
  if (existsSync(file)) {
    await completeFile(store);
    kept = `${file}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    for (const suffix of SUFFIXES) {
      // Only a damaged database still has one; SQLite would use it for the new database.
      if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
    }
    linkSync(file, kept);
  }
  renameSync(draft, file);
  flush(store.directory);
  return kept;
}

/** Moves the write-ahead log into the database, unless that is damaged. @throws DatabaseError when it is in use */
async function completeFile(store: SqliteStore): Promise<void> {
  // SQLite deletes the log of a file that is no database.
  if (!(await isDatabase(databaseFile(store)))) return;
  let database: Database.Database | undefined;
  try {
    database = new Database(databaseFile(store), { timeout: 1000 });
    // Works only if no other process, such as a command, has the database open.
    database.pragma('journal_mode = DELETE');
  } catch (error) {
    if (/^SQLITE_(BUSY|LOCKED)/.test((error as { code?: string }).code ?? '')) throw inUse(store);
  } finally {
    database?.close();
  }
}

const inUse = ({ directory }: SqliteStore) =>
  new DatabaseError(`A service or a command uses ${directory}: stop it first`);
