import type { DataSource, MixedList, EntitySchema } from 'typeorm';
import type { Config } from '../config/config.js';
import { postgresDataSource } from './postgres/data-source.js';
import { sqliteDataSource } from './sqlite/data-source.js';

/** A connection for commands: it may write, and its statements may take their time. */
export function commandDataSource(
  { store }: Pick<Config, 'store'>,
  entities: MixedList<Function | string | EntitySchema> = [],
): DataSource {
  return store.kind === 'sqlite'
    ? sqliteDataSource(store, entities, { writable: true, patient: true })
    : postgresDataSource(store, entities, { patient: true });
}
