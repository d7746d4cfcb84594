import { Logger } from '@nestjs/common';
import type { EntitySchema } from 'typeorm';
import type { Config } from '../config/config.js';
import type { Database } from './database.js';
import { migrate } from './migrate.js';
import { PostgresDataSource } from './postgres/data-source.js';
import { PostgresDatabase } from './postgres/database.js';
import type { ServiceDataSource } from './service-data-source.js';
import { SqliteDataSource } from './sqlite/data-source.js';
import { SqliteDatabase } from './sqlite/database.js';
import { lockForService } from './sqlite/file-lock.js';

export type Entities = (Function | EntitySchema)[];

/**
 * Opens the configured database for the service, and migrates it first, unless the configuration disables that.
 *
 * @throws DatabaseError if the service cannot use it
 */
export async function openDataSource(config: Config, entities: Entities): Promise<ServiceDataSource> {
  const { store } = config;
  const lock = store.kind === 'sqlite' ? lockForService(store) : undefined;
  try {
    if (config.migrateAtStart) {
      const ran = await migrate(config);
      if (ran.length > 0) new Logger('Database').log(`Migrations run: ${ran.join(', ')}`);
    }
    const source =
      store.kind === 'sqlite'
        ? new SqliteDataSource(store, entities, { lock })
        : new PostgresDataSource(store, entities);
    return await source.initialize();
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** The database of an initialized data source. */
export async function databaseOf(source: ServiceDataSource): Promise<Database> {
  return source instanceof SqliteDataSource
    ? new SqliteDatabase(source)
    : PostgresDatabase.of(source as PostgresDataSource);
}
