import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** Second factors: authenticator apps, recovery codes, and logins that wait for a code. */
export class SecondFactors1763700000091 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text, timestamp, boolean } = columnTypes(runner);
    const off = isSqlite(runner) ? '0' : 'false';
    await runner.query(
      `ALTER TABLE accounts ADD COLUMN has_second_factor ${boolean} NOT NULL DEFAULT ${off}`,
    );
    await runner.query(`
      CREATE TABLE totp_factors (
        "account_id" ${integer} PRIMARY KEY NOT NULL,
        secret ${text} NOT NULL,
        last_step ${integer} NOT NULL,
        confirmed_at ${timestamp},
        created_at ${timestamp} NOT NULL,
        CONSTRAINT "totp_factors_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query(`
      CREATE TABLE recovery_codes (
        "id" ${text} PRIMARY KEY NOT NULL,
        account_id ${integer} NOT NULL,
        CONSTRAINT "recovery_codes_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query('CREATE INDEX recovery_codes_account_id ON recovery_codes (account_id)');
    await runner.query(`
      CREATE TABLE login_challenges (
        "id" ${text} PRIMARY KEY NOT NULL,
        account_id ${integer} NOT NULL,
        password_changed_at ${timestamp} NOT NULL,
        attempts ${integer} NOT NULL,
        expires_at ${timestamp} NOT NULL,
        CONSTRAINT "login_challenges_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query('CREATE INDEX login_challenges_account_id ON login_challenges (account_id)');
    await runner.query('CREATE INDEX login_challenges_expires_at ON login_challenges (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE login_challenges');
    await runner.query('DROP TABLE recovery_codes');
    await runner.query('DROP TABLE totp_factors');
    await runner.query('ALTER TABLE accounts DROP COLUMN has_second_factor');
  }
}
