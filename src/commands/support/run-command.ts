import '../../require-node.js';
import type { DataSource } from 'typeorm';
import { explainStartFailure } from '../../common/lifecycle/start-failure.js';
import { ConfigError } from '../../config/config-error.js';
import { loadStoreConfig, type StoreConfig } from '../../config/load-store.js';
import { type CommandDatabase, commandDatabase } from '../../database/command-database.js';
import { commandDataSource } from '../../database/data-source.js';
import { migrate } from '../../database/migrate.js';
import { countPending } from '../../database/pending-migrations.js';

/** An error of the user, such as a wrong flag; printed without a stack. */
export class UsageError extends ConfigError {}

/** Runs a command. Its result is the exit code; an error is printed, and the exit code is 1. */
export async function runCommand(command: (config: StoreConfig) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command(loadStoreConfig(process.env));
  } catch (error) {
    console.error(explainStartFailure(error));
    process.exitCode = 1;
  }
}

/**
 * Runs a command on the database, which a service may use at the same time. Pending migrations run first; with
 * `MIGRATE=off` they stop the command.
 *
 * @param entities those whose repositories the command uses
 */
export function runDatabaseCommand(
  command: (database: CommandDatabase) => Promise<number>,
  entities: Function[] = [],
): Promise<void> {
  return runCommand(async (config) => {
    if (config.migrateAtStart) await migrate(config);
    const source = commandDataSource(config, entities);
    await source.initialize();
    try {
      if (!config.migrateAtStart) await rejectPending(source);
      return await command(commandDatabase(config, source));
    } finally {
      await source.destroy();
    }
  });
}

/** @throws UsageError when the schema is older than this build */
async function rejectPending(source: DataSource): Promise<void> {
  const pending = await countPending(() => source.query('SELECT name FROM migrations'));
  if (pending === 0) return;
  throw new UsageError(`MIGRATE is off, and ${pending} migrations are pending: run npm run migrate first`);
}
