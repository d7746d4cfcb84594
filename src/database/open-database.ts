import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import type { Config } from '../config/config.js';
import type { Database } from './database.js';
import { migrate } from './migrate.js';
import { isOutage } from './failures.js';
import { PostgresDatabase } from './postgres/database.js';
import { SqliteDatabase } from './sqlite/database.js';

/** A database that starts together with the service is waited for: this often, a second apart. */
const ATTEMPTS = 15;

/** Opens the configured database, with its schema up to date unless the configuration leaves that alone. */
export async function openDatabase(config: Config): Promise<Database> {
  const logger = new Logger('Database');
  for (let attempt = 1; ; attempt++) {
    try {
      return await open(config, logger);
    } catch (error) {
      if (attempt === ATTEMPTS || !isOutage(error)) throw error;
      const reason = (error as Error).message || (error as NodeJS.ErrnoException).code;
      logger.warn(`The database does not answer yet (${reason}), attempt ${attempt} of ${ATTEMPTS}`);
      await sleep(1000);
    }
  }
}

async function open(config: Config, logger: Logger): Promise<Database> {
  const { store } = config;
  const migrateFirst = async () => {
    if (!config.migrateAtStart) return;
    const ran = await migrate(config);
    if (ran.length > 0) logger.log(`Migrations run: ${ran.join(', ')}`);
  };
  // Every entity whose module has been imported: a new module needs no second list.
  const entities = getMetadataArgsStorage().tables.map(({ target }) => target);
  return store.kind === 'sqlite'
    ? SqliteDatabase.open(store, entities, migrateFirst)
    : PostgresDatabase.open(store, entities, migrateFirst);
}
