import type { Config } from '../config/config.js';
import { commandDataSource } from './data-source.js';

/** SQL for both databases; skipped if its table is missing, because an older backup may not have it. */
export interface RestoreStatement {
  readonly table: string;
  readonly sql: string;
}

/** Runs statements on PostgreSQL, which other programs restore, in one transaction before the service starts. */
export async function finishRestore(
  config: Pick<Config, 'store'>,
  statements: () => readonly RestoreStatement[],
): Promise<void> {
  const source = await commandDataSource(config).initialize();
  try {
    await source.transaction(async (manager) => {
      for (const { table, sql } of statements()) {
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
