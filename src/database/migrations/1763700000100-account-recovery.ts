import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** What an account got before its e-mail was verified, which a reset of the password removes. */
const ADDED = ['passkeys', 'social_identities', 'totp_factors'];

/** What recovers an account; and what one-time codes and second steps of social logins are bound to. */
export class AccountRecovery1763700000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { text, timestamp, boolean } = columnTypes(runner);
    const no = isSqlite(runner) ? '0' : 'false';
    for (const table of ADDED)
      await runner.query(
        `ALTER TABLE ${table} ADD COLUMN added_unverified ${boolean} NOT NULL DEFAULT ${no}`,
      );
    await runner.query(`ALTER TABLE login_codes ADD COLUMN password_changed_at ${timestamp}`);
    await runner.query(`ALTER TABLE login_challenges ADD COLUMN code_challenge ${text}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE login_challenges DROP COLUMN code_challenge');
    await runner.query('ALTER TABLE login_codes DROP COLUMN password_changed_at');
    for (const table of ADDED) await runner.query(`ALTER TABLE ${table} DROP COLUMN added_unverified`);
  }
}
