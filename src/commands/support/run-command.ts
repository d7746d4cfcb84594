import '../../require-node.js';
import { explainStartFailure } from '../../common/lifecycle/start-failure.js';
import { ConfigError } from '../../config/config-error.js';
import type { Config } from '../../config/config.js';
import { loadStore } from '../../config/load-config.js';
import { type CommandDatabase, commandDatabase } from '../../database/command-database.js';
import { commandDataSource } from '../../database/data-source.js';
import { migrate } from '../../database/migrate.js';

/** What a person can mend in how the command was called; printed without a stack. */
export class UsageError extends ConfigError {}

/** Runs a command. Its result is the exit code; what it throws is printed, and is 1. */
export async function runCommand(command: (config: Pick<Config, 'store'>) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command({ store: loadStore(process.env) });
  } catch (error) {
    console.error(explainStartFailure(error));
    process.exitCode = 1;
  }
}

/**
 * Runs a command on the database, with its schema up to date, beside a service if one is running.
 *
 * @param entities those whose repositories the command uses
 */
export function runDatabaseCommand(
  command: (database: CommandDatabase) => Promise<number>,
  entities: Function[] = [],
): Promise<void> {
  return runCommand(async (config) => {
    await migrate(config);
    const source = commandDataSource(config, entities);
    await source.initialize();
    try {
      return await command(commandDatabase(config, source));
    } finally {
      await source.destroy();
    }
  });
}
