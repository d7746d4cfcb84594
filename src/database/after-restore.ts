import type { Config } from '../config/config.js';
import { commandDataSource } from './data-source.js';

/** SQL for both databases, which is left out where its table is missing: an older backup may lack it. */
interface Statement {
  readonly table: string;
  readonly sql: string;
}

/**
 * What must not go on as it was in a backup, such as an epoch that ids carry. It runs in one transaction, before the
 * service sees the restored data.
 */
export const AFTER_RESTORE: readonly Statement[] = [];

/** Runs {@link AFTER_RESTORE} on PostgreSQL, which other programs have restored. */
export async function finishRestore(config: Pick<Config, 'store'>): Promise<void> {
  const source = await commandDataSource(config).initialize();
  try {
    await source.transaction(async (manager) => {
      for (const { table, sql } of AFTER_RESTORE) {
        const [found] = await manager.query<{ name: string | null }[]>('SELECT to_regclass($1) AS name', [
          table,
        ]);
        if (found?.name != null) await manager.query(sql);
      }
    });
  } finally {
    await source.destroy();
  }
}
