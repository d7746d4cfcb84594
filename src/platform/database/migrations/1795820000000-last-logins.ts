import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** What staff sees of accounts, and finds them by. Both are null for accounts of an earlier version until they change. */
export class LastLogins1795820000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { text, timestamp } = columnTypes(runner);
    await runner.query(`ALTER TABLE accounts ADD COLUMN name_folded ${text}`);
    await runner.query(`ALTER TABLE accounts ADD COLUMN last_login_at ${timestamp}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE accounts DROP COLUMN last_login_at');
    await runner.query('ALTER TABLE accounts DROP COLUMN name_folded');
  }
}
