import { execFileSync } from 'node:child_process';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { createStore, STORES, type StoreName } from '../../test/support/stores.ts';

export type Environment = Readonly<Record<string, string>>;

/**
 * Measures on an empty database of each kind, on a PostgreSQL server of its own.
 *
 * @param only the name of the only store
 */
export async function onEachStore(
  only: string | undefined,
  measure: (store: StoreName, environment: Environment) => Promise<void>,
): Promise<void> {
  const postgres = await startPostgres();
  process.env['TEST_DATABASE_URL'] = postgres.url;
  try {
    for (const store of STORES) {
      if (only !== undefined && only !== store) continue;
      const { environment, ...database } = await createStore(store);
      await measure(store, environment);
      await database.remove();
    }
  } finally {
    await postgres.stop();
  }
}

/** Migrates a database, and fills it by commands such as `['posts/seed', '--posts', '1000']`. */
export function fill(environment: Environment, ...commands: readonly (readonly string[])[]): void {
  for (const [name, ...options] of [['migrate', '--yes'], ...commands]) {
    execFileSync(process.execPath, [`dist/commands/${name}.js`, ...options], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}
