import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';
import * as postgres from './1763700000051-idempotency-usage.postgres.js';
import * as sqlite from './1763700000051-idempotency-usage.sqlite.js';

/**
 * Stored responses may be compressed. Triggers update their total size in the transaction of each change, because
 * a sum would read every record.
 */
export class IdempotencyUsage1763700000051 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text } = columnTypes(runner);
    await runner.query(`ALTER TABLE idempotency_records ADD COLUMN encoding ${text}`);
    await runner.query(`ALTER TABLE idempotency_records ADD COLUMN size ${integer} NOT NULL DEFAULT 0`);
    await runner.query(`
      CREATE TABLE idempotency_usage (
        slot ${integer} PRIMARY KEY NOT NULL,
        bytes ${integer} NOT NULL
      )`);
    for (const statement of isSqlite(runner) ? sqlite.UP : postgres.UP) await runner.query(statement);
    await runner.query(`UPDATE idempotency_records SET size = length(headers) + length(coalesce(body, ''))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of isSqlite(runner) ? sqlite.DOWN : postgres.DOWN) await runner.query(statement);
    // The previous version cannot read compressed responses.
    await runner.query('DELETE FROM idempotency_records WHERE encoding IS NOT NULL');
    await runner.query('DROP TABLE idempotency_usage');
    await runner.query('ALTER TABLE idempotency_records DROP COLUMN size');
    await runner.query('ALTER TABLE idempotency_records DROP COLUMN encoding');
  }
}
