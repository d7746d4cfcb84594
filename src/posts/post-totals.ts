import type { Queries } from '../database/queries.js';
import type { Transactions } from '../database/transactions.js';

const COUNTED = `
  SELECT 'status=' || status AS scope, count(*) AS total FROM posts GROUP BY status
  UNION ALL SELECT 'author=' || author_id, count(*) FROM posts GROUP BY author_id`;

export interface TotalFault {
  readonly scope: string;
  readonly counted: number;
  readonly kept: number;
}

/** Compares the totals in the database with the number of posts, in one transaction. */
export async function findTotalFaults(queries: Queries): Promise<TotalFault[]> {
  const faults = await queries.all<Record<keyof TotalFault, unknown>>(`
    SELECT scope, sum(counted) AS counted, sum(kept) AS kept FROM (
      SELECT scope, total AS counted, 0 AS kept FROM (${COUNTED}) AS counted
      UNION ALL SELECT scope, 0, total FROM post_totals
    ) AS both_ways
    GROUP BY scope HAVING sum(counted) <> sum(kept) ORDER BY scope`);
  return faults.map(({ scope, counted, kept }) => ({
    scope: String(scope),
    counted: Number(counted),
    kept: Number(kept),
  }));
}

/** Counts all posts again. Blocks writes to posts until it ends. */
export function rebuildTotals({
  queries: { dialect },
  transactions,
}: {
  queries: Queries;
  transactions: Transactions;
}): Promise<void> {
  return transactions.run(async () => {
    await transactions.execute(dialect.lockTable('posts'));
    await transactions.execute('DELETE FROM post_totals');
    await transactions.execute(
      `INSERT INTO post_totals (scope, slot, total) SELECT scope, 0, total FROM (${COUNTED}) AS counted`,
    );
  });
}
