import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** Identities at login providers, and one-time codes that front ends exchange for tokens. */
export class SocialLogin1763700000031 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE social_identities (
        "id" ${id},
        account_id ${integer} NOT NULL,
        provider ${text} NOT NULL,
        subject ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        CONSTRAINT "social_identities_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query(
      'CREATE UNIQUE INDEX social_identities_provider_subject ON social_identities (provider, subject)',
    );
    await runner.query('CREATE INDEX social_identities_account_id ON social_identities (account_id)');
    await runner.query(`
      CREATE TABLE login_codes (
        "id" ${text} PRIMARY KEY NOT NULL,
        account_id ${integer} NOT NULL,
        expires_at ${timestamp} NOT NULL,
        CONSTRAINT "login_codes_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query('CREATE INDEX login_codes_expires_at ON login_codes (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE login_codes');
    await runner.query('DROP TABLE social_identities');
    if (isSqlite(runner)) await runner.query(`DELETE FROM sqlite_sequence WHERE name = 'social_identities'`);
  }
}
