import '../../require-node.js';
import type { INestApplicationContext, LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { explainStartFailure } from '../../platform/operations/start-failure.js';
import { readEnvFile } from '../../platform/config/env-file.js';
import { loadCommandConfig } from '../../platform/config/load-config.js';
import { describeStore, loadStoreConfig, type StoreConfig } from '../../platform/config/store.js';
import { isMissing } from '../../platform/database/data-source.js';
import { migrate } from '../../platform/database/migrate.js';
import { pendingMigrations } from '../../platform/database/pending-migrations.js';
import { UsageError } from './ask.js';
import { countOf } from './progress.js';
import { nameTarget } from './target-database.js';

export { UsageError } from './ask.js';

interface DatabaseCommandOptions {
  /** What the command does to the database; it names the database before it writes. */
  readonly access: 'read' | 'write';
  /** Whether a new database is created without a question, for commands that write. */
  readonly yes?: boolean | undefined;
}

/** Runs a command. Its result is the exit code; an error is printed, and the exit code is 1. */
export async function runCommand(command: (config: StoreConfig) => Promise<number>): Promise<void> {
  try {
    readEnvFile(process.env);
    const config = loadStoreConfig(process.env);
    process.exitCode = await command(config);
  } catch (error) {
    console.error(explainStartFailure(error));
    process.exitCode = 1;
  }
}

/**
 * Runs a command in an application context, on the database, which a service may use at the same time. It rejects an
 * older schema: only the service and `migrate` change one. A command that writes may create a new database, after a
 * question.
 */
export function runDatabaseCommand(
  command: (context: INestApplicationContext) => Promise<number>,
  { access, yes = false }: DatabaseCommandOptions,
): Promise<void> {
  return runCommand(async ({ store }) => {
    if (access === 'read') requireDatabase(store);
    else if (await nameTarget(store, yes)) await migrate({ store });
    return inContext(command);
  });
}

/** @throws UsageError when there is none */
export function requireDatabase(store: StoreConfig['store']): void {
  if (!isMissing(store)) return;
  throw new UsageError(
    `There is no database yet (${describeStore(store)}): start the service, or run npm run migrate`,
  );
}

/** Of what the application logs, a command writes the security events: a line of JSON for each, on standard error. */
const SECURITY_LOG: LoggerService = {
  log: (entry: object, context: string) => {
    if (context === 'Security') console.error(JSON.stringify(entry));
  },
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Runs work in the whole application, which does not listen. It starts none of the `BackgroundTasks`.
 *
 * @throws UsageError when the schema of the database is older
 */
async function inContext<T>(work: (context: INestApplicationContext) => Promise<T>): Promise<T> {
  const { AppModule } = await import('../../app.module.js');
  const config = loadCommandConfig(process.env);
  const context = await NestFactory.createApplicationContext(AppModule.with(config), {
    logger: SECURITY_LOG,
    abortOnError: false,
  });
  try {
    await rejectOlder(context.get(DataSource), config);
    return await work(context);
  } finally {
    await context.close();
  }
}

/** @throws UsageError when the schema is older than this build */
export async function rejectOlder(source: DataSource, { store }: Pick<StoreConfig, 'store'>): Promise<void> {
  const { length: pending } = await pendingMigrations((sql) => source.query(sql));
  if (pending === 0) return;
  const migrations = `${countOf(pending, 'migration')} ${pending === 1 ? 'is' : 'are'}`;
  throw new UsageError(
    `The schema of the database is older than this build (${describeStore(store)}): ${migrations} pending; run npm run migrate first`,
  );
}
