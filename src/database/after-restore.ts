import type { Config } from '../config/config.js';
import { commandDataSource } from './data-source.js';

/** SQL for both databases; skipped if its table is missing, because an older backup may not have it. */
interface Statement {
  readonly table: string;
  readonly sql: string;
}

/**
 * Writes to a restored database, in one transaction before the service starts, such as an entry of the audit log.
 *
 * @param operator who has restored it
 */
export const afterRestore = (operator: string): readonly Statement[] => [
  {
    table: 'audit_entries',
    sql: `INSERT INTO audit_entries (created_at, actor_id, action, subject, address, agent, request_id)
      VALUES ('${new Date().toISOString()}', NULL, 'command restore', 'database', '', '${quoted(operator)}', '')`,
  },
];

const quoted = (text: string): string => text.replaceAll("'", "''");

/** Runs {@link afterRestore} on PostgreSQL, which other programs restore. */
export async function finishRestore(config: Pick<Config, 'store'>, operator: string): Promise<void> {
  const source = await commandDataSource(config).initialize();
  try {
    await source.transaction(async (manager) => {
      for (const { table, sql } of afterRestore(operator)) {
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
