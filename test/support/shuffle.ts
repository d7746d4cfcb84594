import type { TestApi } from './api.js';

/** Writes the rows of a table anew, in another order than that of their ids. On SQLite, they always stay in it. */
export async function shuffle({ config, rows }: TestApi, table: string): Promise<void> {
  if (config.store.kind === 'sqlite') return;
  await rows.execute(`CREATE INDEX shuffled ON ${table} (md5(id || 'x'))`);
  await rows.execute(`CLUSTER ${table} USING shuffled`);
  await rows.execute('DROP INDEX shuffled');
}

/** Whether rows have growing ids, or falling ones; those of events count by their position. */
export function isOrdered(
  rows: readonly { readonly id: unknown }[],
  order: 'ascending' | 'descending',
): boolean {
  const ids = rows.map(({ id }) => Number(String(id).replace(/^.*-/, '')));
  return ids.every((id, n) => n === 0 || (order === 'ascending' ? id > ids[n - 1]! : id < ids[n - 1]!));
}
