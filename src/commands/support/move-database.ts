import type { PostgresStore } from '../../platform/config/config.js';
import { describeStore, loadStoreConfig, type StoreConfig } from '../../platform/config/store.js';
import { type BeginTable, copyToPostgres } from '../../platform/database/copy-to-postgres.js';
import { commandDataSource, isEmbedded } from '../../platform/database/data-source.js';
import { migrate } from '../../platform/database/migrate.js';
import { lockForService } from '../../platform/database/sqlite/file-lock.js';
import { explainStartFailure } from '../../platform/operations/start-failure.js';
import { UsageError } from './ask.js';
import { countOf, Progress } from './progress.js';
import { rejectOlder, requireDatabase } from './run-command.js';

/** Moves the embedded database to an empty one on PostgreSQL. @throws UsageError when source or target cannot be used */
export async function moveDatabase(from: StoreConfig['store'], address: string): Promise<number> {
  if (!isEmbedded(from)) throw new UsageError('DATABASE_URL is set: only the embedded database moves');
  requireDatabase(from);
  const to = await atTarget(() => targetOf(address));
  console.error(`From: ${describeStore(from)}\nTo: ${describeStore(to)}`);
  const lock = lockForService(from);
  try {
    const opened = await commandDataSource({ store: from }).initialize();
    try {
      await rejectOlder(opened, { store: from });
    } finally {
      await opened.destroy();
    }
    await atTarget(() => migrate({ store: to }));
    await copyToPostgres(from, to, beginTable);
  } finally {
    lock.release();
  }
  console.log(`Start the service with the address as DATABASE_URL. Its keys are not in the database, so they have to come along:
ENCRYPTION_KEY, if it is set, and JWT_SECRET, or without it the file jwt-secret in DATA_DIR`);
  return 0;
}

function targetOf(address: string): PostgresStore {
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...others } = process.env;
  const { store } = loadStoreConfig({ ...others, DATABASE_URL: address });
  if (isEmbedded(store))
    throw new UsageError('The target must be postgres://user:password@host:port/database');
  return store;
}

/** Runs a part whose errors name the settings of the service, which are those of the source. */
async function atTarget<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = explainStartFailure(error).replaceAll('DATABASE_URL', 'The target');
    throw new UsageError(message, { cause: error });
  }
}

const beginTable: BeginTable = (name, total) => {
  const progress = new Progress(`rows of ${name}`, total);
  return {
    show: (done) => progress.show(done),
    end: () => {
      const seconds = progress.end();
      if (total > 0) console.log(`${name}: ${countOf(total, 'row')} in ${seconds.toFixed(1)} s`);
    },
  };
};
