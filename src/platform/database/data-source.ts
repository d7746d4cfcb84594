import type { EntitySchema, MixedList } from 'typeorm';
import type { Config, SqliteStore } from '../config/config.js';
import { PostgresDataSource } from './postgres/data-source.js';
import type { ServiceDataSource } from './service-data-source.js';
import { hasDatabase, SqliteDataSource } from './sqlite/data-source.js';

/** Whether the database is a file of this service, which its commands back up and restore. */
export const isEmbedded = (store: Config['store']): store is SqliteStore => store.kind === 'sqlite';

/** Whether a command would create the database. That of PostgreSQL exists, even if it is empty. */
export const isMissing = (store: Config['store']): boolean => isEmbedded(store) && !hasDatabase(store);

/** A data source for commands, without a statement timeout. */
export function commandDataSource(
  { store }: Pick<Config, 'store'>,
  entities: MixedList<Function | string | EntitySchema> = [],
): ServiceDataSource {
  return isEmbedded(store)
    ? new SqliteDataSource(store, entities, { forCommand: true })
    : new PostgresDataSource(store, entities, { forCommand: true });
}
