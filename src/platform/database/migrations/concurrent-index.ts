import type { QueryRunner } from 'typeorm';
import { isSqlite } from './column-types.js';

/**
 * Creates an index without blocking writes. The migration has `transaction = false`, and may run again after
 * an interruption, which leaves an invalid index on PostgreSQL.
 *
 * @param on such as `posts (status, id)`
 */
export async function createIndexConcurrently(
  runner: QueryRunner,
  name: string,
  on: string,
  { unique = false } = {},
): Promise<void> {
  const create = `CREATE ${unique ? 'UNIQUE ' : ''}INDEX`;
  if (isSqlite(runner)) {
    await runner.query(`${create} IF NOT EXISTS ${name} ON ${on}`);
    return;
  }
  const [index]: { isValid: boolean }[] = await runner.query(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  if (index?.isValid === false) await runner.query(`DROP INDEX CONCURRENTLY ${name}`);
  await runner.query(`${create} CONCURRENTLY IF NOT EXISTS ${name} ON ${on}`);
}
