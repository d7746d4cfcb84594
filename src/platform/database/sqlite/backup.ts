import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { SqliteStore } from '../../config/config.js';
import { DatabaseError } from '../failures.js';
import { databaseFile } from './data-source.js';

/** How long another process may keep the command waiting, in milliseconds. */
const TIMEOUT = 30_000;

/**
 * Writes everything that was committed at the start to a file, next to a running service. The file appears when it is
 * complete and has passed the check of its integrity, and only its owner can read it.
 *
 * @throws DatabaseError when there is no database, it is damaged, or the file exists already
 */
export function backUpDatabase(store: SqliteStore, file: string): void {
  const source = databaseFile(store);
  if (!existsSync(source)) throw new DatabaseError(`There is no database in ${store.directory}`);
  if (existsSync(file)) throw exists(file);
  if (!existsSync(dirname(file))) throw new DatabaseError(`There is no folder ${dirname(file)}`);
  const draft = `${file}.${process.pid}.partial`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    use(source, (database) => database.prepare('VACUUM INTO ?').run(draft));
    const found = use(draft, (copy) => copy.pragma('integrity_check(1)', { simple: true }));
    if (found !== 'ok') throw new DatabaseError(`The database in ${source} is damaged: ${String(found)}`);
    flush(draft);
    // Unlike a new name, a second one never replaces a file.
    linkSync(draft, file);
    flush(dirname(file));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(file) : error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** @throws DatabaseError when it cannot be read */
function use<T>(file: string, work: (database: Database.Database) => T): T {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { fileMustExist: true, timeout: TIMEOUT });
    return work(database);
  } catch (error) {
    throw new DatabaseError(`${file} cannot be copied: ${(error as Error).message}`, { cause: error });
  } finally {
    database?.close();
  }
}

const exists = (file: string) => new DatabaseError(`${file} already exists; choose another file name`);

/** Waits until a file, or the names in a folder, are on disk. */
function flush(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
