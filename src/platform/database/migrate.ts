import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntitySchema, QueryFailedError } from 'typeorm';
import type { Config } from '../config/config.js';
import { isPostgresOnly, WORKS_ON_BOTH } from '../config/package.js';
import { commandDataSource } from './data-source.js';
import { DatabaseError, isBadStatement } from './failures.js';
import { pendingMigrations } from './pending-migrations.js';
import { FileLock } from './sqlite/file-lock.js';

/** Key of the advisory lock, used for nothing else in the database. */
const LOCK_KEY = 7_236_104_455;

/** How long to wait on SQLite for another process that migrates, in milliseconds. */
const LOCK_TIMEOUT = 60_000;

/** Between two attempts to get the lock on PostgreSQL, in milliseconds. */
const RETRY = 200;

/**
 * Runs the pending migrations. Concurrent processes wait, and then find none pending. All of them run
 * or none, unless one of them has `transaction = false`: then each has its own transaction, or none.
 *
 * @param entities those of the application: if the database does not support a column, nothing is migrated
 * @returns the names of the migrations that ran
 * @throws DatabaseError if one of them fails on this database
 */
export async function migrate(
  config: Pick<Config, 'store'>,
  entities: (Function | EntitySchema)[] = [],
): Promise<string[]> {
  const unlockFile =
    config.store.kind === 'sqlite' ? lockFile(join(config.store.directory, 'migration.lock')) : undefined;
  const source = commandDataSource(config, entities);
  try {
    await source.initialize();
    const unlock = config.store.kind === 'postgres' ? await lockDatabase(source) : undefined;
    const pending = await pendingMigrations((sql) => source.query(sql));
    const isOneTransaction = pending.every((Migration) => new Migration().transaction !== false);
    const ran = await source.runMigrations({ transaction: isOneTransaction ? 'all' : 'each' });
    await unlock?.();
    return ran.map(({ name }) => name);
  } catch (error) {
    if (isPostgresOnly || !isBadStatement(error)) throw error;
    const { message, query } = error as Error & Partial<QueryFailedError>;
    const place = config.store.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    const statement = query === undefined ? '' : `, in: ${query.trim()}`;
    const sentence = `A migration fails on ${place}: ${message}${statement}`;
    throw new DatabaseError(`${sentence}\n${WORKS_ON_BOTH}`, { cause: error });
  } finally {
    if (source.isInitialized) await source.destroy();
    unlockFile?.();
  }
}

function lockFile(file: string): () => void {
  const lock = FileLock.acquire(file, LOCK_TIMEOUT);
  if (!lock) throw new Error('Another process is still migrating the database');
  return () => lock.release();
}

/** Uses a lock of a transaction: behind a pooler, a lock of the session would stay with its connection. */
async function lockDatabase(source: DataSource): Promise<() => Promise<void>> {
  const holder = source.createQueryRunner();
  const tryLock = async (): Promise<boolean> => {
    // With `default_transaction_isolation` of the server, the holder might keep a snapshot, with the same deadlock.
    await holder.startTransaction('READ COMMITTED');
    const [row]: { isLocked: boolean }[] = await holder.query(
      'SELECT pg_try_advisory_xact_lock($1) AS "isLocked"',
      [LOCK_KEY],
    );
    if (!row!.isLocked) await holder.rollbackTransaction();
    return row!.isLocked;
  };
  // A statement that waits for the lock would block a concurrent index build, and wait for it: a deadlock.
  while (!(await tryLock())) await sleep(RETRY);
  await holder.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  return async () => {
    await holder.commitTransaction();
    await holder.release();
  };
}
