import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** Until when an account must have a verified e-mail, and the challenge (RFC 7636) of a one-time code. */
export class AccountOrigins1763700000094 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { text, timestamp } = columnTypes(runner);
    await runner.query(`ALTER TABLE accounts ADD COLUMN verify_until ${timestamp}`);
    await runner.query(`ALTER TABLE login_codes ADD COLUMN code_challenge ${text}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE login_codes DROP COLUMN code_challenge');
    await runner.query('ALTER TABLE accounts DROP COLUMN verify_until');
  }
}
