import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/**
 * When the password or second factor of a login was checked last; without a value, when it began. A version of the
 * service that is being replaced sets none of these columns.
 */
export class RecentLogins1763700000090 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, timestamp } = columnTypes(runner);
    await runner.query(`ALTER TABLE logins ADD COLUMN authenticated_at ${timestamp}`);
    await runner.query(`ALTER TABLE mail_limits ADD COLUMN sent ${integer} NOT NULL DEFAULT 1`);
    await runner.query(`ALTER TABLE mail_limits ADD COLUMN next_at ${timestamp}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mail_limits DROP COLUMN next_at');
    await runner.query('ALTER TABLE mail_limits DROP COLUMN sent');
    await runner.query('ALTER TABLE logins DROP COLUMN authenticated_at');
  }
}
