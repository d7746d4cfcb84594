import type { EntityManager } from 'typeorm';
import { isSqlite } from '../database/migrations/column-types.js';

const COUNTED = `
  SELECT 'status=' || status AS scope, count(*) AS total FROM posts GROUP BY status
  UNION ALL SELECT 'author=' || author_id, count(*) FROM posts GROUP BY author_id`;

export interface TotalFault {
  readonly scope: string;
  readonly counted: number;
  readonly kept: number;
}

/** Holds the totals that the database keeps against the posts that there are, at one moment. */
export async function findTotalFaults(manager: EntityManager): Promise<TotalFault[]> {
  const faults: Record<keyof TotalFault, unknown>[] = await manager.query(`
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

/** Counts anew. Writers wait meanwhile; run it in a transaction. */
export async function rebuildTotals(manager: EntityManager): Promise<void> {
  if (!isSqlite(manager.queryRunner!)) await manager.query('LOCK TABLE posts IN SHARE MODE');
  await manager.query('DELETE FROM post_totals');
  await manager.query(
    `INSERT INTO post_totals (scope, slot, total) SELECT scope, 0, total FROM (${COUNTED}) AS counted`,
  );
}
