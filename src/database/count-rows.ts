import type { Queries } from './queries.js';

export interface RowCount {
  /** The name of the table. */
  readonly name: string;
  readonly count: number;
}

/** The number of rows of each table. It reads all of them. */
export async function countRows(queries: Queries): Promise<RowCount[]> {
  const counts: RowCount[] = [];
  for (const { name } of await queries.search<{ name: string }>(queries.dialect.tables)) {
    const [row] = await queries.search<{ count: number }>(`SELECT count(*) AS count FROM "${name}"`);
    counts.push({ name, count: row!.count });
  }
  return counts;
}
