import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { DataSource, type MixedList, type EntitySchema } from 'typeorm';
import type { SqliteStore } from '../../config/config.js';
import { migrations } from '../migrations/index.js';

/** What the column types of `columns.ts` are called here. */
const TYPES: Record<string, string> = { int8: 'integer', timestamptz: 'text' };

/**
 * How long a statement waits while another process writes, in milliseconds. The wait blocks the event loop,
 * so a service hardly waits (`retryCollisions` tries again); a command may.
 */
const BUSY_TIMEOUT = { service: 5, command: 30_000 };

export const databaseFile = ({ directory }: SqliteStore): string => join(directory, 'database.sqlite');

/** A connection to the embedded database. One that is not for writing refuses to write. */
export function sqliteDataSource(
  store: SqliteStore,
  entities: MixedList<Function | string | EntitySchema>,
  { writable, patient = false }: { writable: boolean; patient?: boolean },
): DataSource {
  const source = new DataSource({
    type: 'better-sqlite3',
    database: databaseFile(store),
    entities,
    migrations,
    readonly: !writable,
    timeout: patient ? BUSY_TIMEOUT.command : BUSY_TIMEOUT.service,
    enableWAL: writable,
    prepareDatabase: (connection: Database) => {
      // A commit is on disk before it is answered, whatever happens to the power.
      if (writable) connection.pragma('synchronous = FULL');
    },
  });
  const { driver } = source;
  const normalizeType = driver.normalizeType.bind(driver);
  driver.normalizeType = (column) =>
    normalizeType({ ...column, type: TYPES[String(column.type)] ?? column.type } as typeof column);
  return source;
}
