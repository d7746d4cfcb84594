import type { MigrationInterface, QueryRunner } from 'typeorm';
import * as postgres from './1763700000088-idempotency-insertions.postgres.js';
import * as sqlite from './1763700000088-idempotency-insertions.sqlite.js';
import { isSqlite } from './column-types.js';

/** The total size of the stored responses includes those that are inserted with their size, and not updated later. */
export class IdempotencyInsertions1763700000088 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of isSqlite(runner) ? sqlite.UP : postgres.UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of isSqlite(runner) ? sqlite.DOWN : postgres.DOWN) await runner.query(statement);
  }
}
