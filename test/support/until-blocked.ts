import { AsyncLocalStorage } from 'node:async_hooks';
import { Database } from '../../src/platform/database/database.js';
import type { TestApi } from './api.js';
import type { StoreName } from './stores.js';
import { until } from './until.js';

/** Waits until a write waits for another transaction. */
export const untilBlocked = (api: TestApi, store: StoreName): Promise<void> =>
  until('a write waits', async () => {
    const database = api.app.get(Database);
    if (store === 'SQLite')
      return database.pools().some(({ name, pending }) => name === 'writer' && pending > 0);
    const [row] = await database.monitor<{ n: number | string }>(
      `SELECT count(*) AS n FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return Number(row!.n) > 0;
  });

/**
 * Makes a change, and starts a call before the change is committed: the commit follows when the call waits for it.
 *
 * @returns the result of the call
 */
export async function startDuring<T>(
  [api, store]: readonly [TestApi, StoreName],
  change: () => Promise<unknown>,
  call: () => Promise<T>,
): Promise<T> {
  const outside = AsyncLocalStorage.snapshot();
  let result!: Promise<T>;
  await api.rows.run(async () => {
    await change();
    result = outside(call);
    // A call that does not wait would complete.
    await Promise.race([result, outside(() => untilBlocked(api, store))]);
  });
  return result;
}
