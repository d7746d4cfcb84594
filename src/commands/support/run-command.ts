import type { DataSource } from 'typeorm';
import { ConfigError } from '../../config/config-error.js';
import { loadConfig } from '../../config/load-config.js';
import { commandDataSource } from '../../database/data-source.js';
import { migrate } from '../../database/migrate.js';

/** What a person can mend; printed without a stack. */
export class UsageError extends Error {}

/**
 * Runs a command on the configured database, with its schema up to date, beside a service if one is
 * running. Its result is the exit code; what it throws is printed, and is 1.
 */
export async function runCommand(command: (source: DataSource) => Promise<number>): Promise<void> {
  try {
    const config = loadConfig(process.env);
    await migrate(config);
    const source = await commandDataSource(config).initialize();
    try {
      process.exitCode = await command(source);
    } finally {
      await source.destroy();
    }
  } catch (error) {
    const plain = error instanceof UsageError || error instanceof ConfigError;
    console.error(plain ? error.message : error);
    process.exitCode = 1;
  }
}
