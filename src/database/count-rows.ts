import type { Queries } from './queries.js';

export interface RowCount {
  /** Of the table. */
  readonly name: string;
  readonly count: number;
}

/** How many rows each table has. Reads all of them. */
export async function countRows(queries: Queries): Promise<RowCount[]> {
  const counts: RowCount[] = [];
  for (const { name } of await queries.search<{ name: string }>(queries.dialect.tables)) {
    const [row] = await queries.search<{ count: number }>(`SELECT count(*) AS count FROM "${name}"`);
    counts.push({ name, count: row!.count });
  }
  return counts;
}
