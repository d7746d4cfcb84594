import type { EntitySchema, MixedList } from 'typeorm';
import type { Config } from '../config/config.js';
import { PostgresDataSource } from './postgres/data-source.js';
import type { ServiceDataSource } from './service-data-source.js';
import { SqliteDataSource } from './sqlite/data-source.js';

/** A data source for commands, without a statement timeout. */
export function commandDataSource(
  { store }: Pick<Config, 'store'>,
  entities: MixedList<Function | string | EntitySchema> = [],
): ServiceDataSource {
  return store.kind === 'sqlite'
    ? new SqliteDataSource(store, entities, { forCommand: true })
    : new PostgresDataSource(store, entities, { forCommand: true });
}
