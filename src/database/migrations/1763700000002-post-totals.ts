import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';
import * as postgres from './1763700000002-post-totals.postgres.js';
import * as sqlite from './1763700000002-post-totals.sqlite.js';

/**
 * The numbers of posts by status and by author. Triggers update them in the transaction of each change, because
 * `COUNT(*)` reads every post. A total is the sum of its slots.
 */
export class PostTotals1763700000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE post_totals (
        scope ${text} NOT NULL,
        slot ${integer} NOT NULL,
        total ${integer} NOT NULL,
        PRIMARY KEY (scope, slot)
      )`);
    await runner.query(`
      INSERT INTO post_totals (scope, slot, total)
      SELECT 'status=' || status, 0, count(*) FROM posts GROUP BY status
      UNION ALL SELECT 'author=' || author_id, 0, count(*) FROM posts GROUP BY author_id`);
    for (const statement of isSqlite(runner) ? sqlite.UP : postgres.UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of isSqlite(runner) ? sqlite.DOWN : postgres.DOWN) await runner.query(statement);
    await runner.query('DROP TABLE post_totals');
  }
}
