import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { Config } from '../config/config.js';
import { commandDataSource } from './data-source.js';
import { rememberChecksums } from './migration-checksums.js';
import { FileLock } from './sqlite/file-lock.js';

/** Key of the advisory lock, used for nothing else in the database. */
const LOCK_KEY = 7_236_104_455;

/** How long to wait on SQLite for another process that migrates, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Runs the pending migrations, all or none of them. Concurrent processes wait, and then find none
 * pending.
 *
 * @param accept whether to accept migrations that were changed after they ran
 * @returns the names of the migrations that ran
 */
export async function migrate(config: Pick<Config, 'store'>, { accept = false } = {}): Promise<string[]> {
  const unlockFile =
    config.store.kind === 'sqlite' ? lockFile(join(config.store.directory, 'migration.lock')) : undefined;
  const source = await commandDataSource(config).initialize();
  try {
    const unlock = config.store.kind === 'postgres' ? await lockDatabase(source) : undefined;
    const ran = await source.runMigrations({ transaction: 'all' });
    const names = ran.map(({ name }) => name);
    await rememberChecksums(source, names, { accept });
    await unlock?.();
    return names;
  } finally {
    await source.destroy();
    unlockFile?.();
  }
}

function lockFile(file: string): () => void {
  const lock = FileLock.acquire(file, PATIENCE);
  if (!lock) throw new Error('Another process is still migrating the database');
  return () => lock.release();
}

async function lockDatabase(source: DataSource): Promise<() => Promise<void>> {
  const holder = source.createQueryRunner();
  // A lock of the transaction: behind a pooler, a lock of the session would stay with its connection.
  await holder.startTransaction();
  await holder.query('SELECT pg_advisory_xact_lock($1)', [LOCK_KEY]);
  return async () => {
    await holder.commitTransaction();
    await holder.release();
  };
}
