import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SqliteStore } from '../../config/config.js';
import { DatabaseError } from '../failures.js';
import { appendChecksum, compareChecksum } from './checksum.js';
import { databaseFile } from './data-source.js';
import { copyDatabase, createPrivate, flush, type OnProgress, verifyDatabase } from './snapshot.js';

/**
 * Writes everything that was committed at the start to a file, next to a running service. The file appears when
 * it is complete and verified.
 *
 * @throws DatabaseError when there is no database, or the file exists already
 */
export async function backUpDatabase(
  store: SqliteStore,
  file: string,
  onProgress: OnProgress,
): Promise<void> {
  const source = databaseFile(store);
  if (!existsSync(source)) throw new DatabaseError(`There is no database in ${store.directory}`);
  if (existsSync(file)) throw new DatabaseError(`${file} already exists; choose another file name`);
  if (!existsSync(dirname(file))) throw new DatabaseError(`There is no folder ${dirname(file)}`);
  const draft = `${file}.${process.pid}.partial`;
  try {
    createPrivate(draft);
    await copyDatabase(source, draft, onProgress);
    verifyDatabase(draft);
    await appendChecksum(draft);
    renameSync(draft, file);
    flush(dirname(file));
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Checks a backup, without changing it.
 *
 * @returns whether it has a checksum; without one, changed values cannot be detected
 * @throws DatabaseError when it is missing, damaged or not a database of this service
 */
export async function verifyBackup(file: string): Promise<boolean> {
  if (!existsSync(file)) throw new DatabaseError(`There is no file ${file}`);
  const hasChecksum = await compareChecksum(file);
  verifyDatabase(file, { readonly: true });
  return hasChecksum;
}
