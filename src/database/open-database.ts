import { Logger } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import type { Config } from '../config/config.js';
import type { Database } from './database.js';
import { migrate } from './migrate.js';
import { PostgresDatabase } from './postgres/database.js';
import { SqliteDatabase } from './sqlite/database.js';
import { untilReachable } from './until-reachable.js';

/** Opens the configured database and migrates it, unless the configuration disables that. */
export function openDatabase(config: Config): Promise<Database> {
  const logger = new Logger('Database');
  return untilReachable(() => open(config, logger), logger);
}

async function open(config: Config, logger: Logger): Promise<Database> {
  const { store } = config;
  const migrateFirst = async () => {
    if (!config.migrateAtStart) return;
    const ran = await migrate(config);
    if (ran.length > 0) logger.log(`Migrations run: ${ran.join(', ')}`);
  };
  // The entities of all imported modules: a new module needs no second list.
  const entities = getMetadataArgsStorage().tables.map(({ target }) => target);
  const database = await (store.kind === 'sqlite'
    ? SqliteDatabase.open(store, entities, migrateFirst)
    : PostgresDatabase.open(store, entities, migrateFirst));
  for (const { field, message } of await database.schemaFaults()) logger.error(`${field}: ${message}`);
  return database;
}
