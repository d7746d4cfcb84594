import type { Config } from '../../config/config.js';
import { commandDataSource } from '../data-source.js';
import type { RestoreStatement } from '../statement.js';

/** Runs a statement on a database that another program has restored, before the service starts. */
export async function finishRestore(
  config: Pick<Config, 'store'>,
  { table, sql }: RestoreStatement,
): Promise<void> {
  const source = await commandDataSource(config).initialize();
  try {
    const [found] = await source.query<{ name: string | null }[]>('SELECT to_regclass($1) AS name', [table]);
    if (found?.name != null) await source.query(sql);
  } finally {
    await source.destroy();
  }
}
