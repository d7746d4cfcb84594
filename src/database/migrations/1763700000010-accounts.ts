import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** Accounts, their logins, and failed login attempts. */
export class Accounts1763700000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp, boolean } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE accounts (
        "id" ${id},
        email ${text} NOT NULL,
        email_key ${text} NOT NULL,
        name ${text} NOT NULL,
        phone ${text} NOT NULL,
        password_hash ${text} NOT NULL,
        password_changed_at ${timestamp} NOT NULL,
        is_active ${boolean} NOT NULL,
        is_staff ${boolean} NOT NULL,
        is_superuser ${boolean} NOT NULL,
        is_email_verified ${boolean} NOT NULL,
        date_joined ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE UNIQUE INDEX accounts_email_key ON accounts (email_key)');
    await runner.query(`
      CREATE TABLE logins (
        "id" ${text} PRIMARY KEY NOT NULL,
        account_id ${integer} NOT NULL,
        kind ${text} NOT NULL,
        refresh_jti ${text},
        previous_jti ${text},
        address ${text} NOT NULL,
        agent ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        last_used_at ${timestamp} NOT NULL,
        expires_at ${timestamp} NOT NULL,
        CONSTRAINT "logins_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query('CREATE INDEX logins_account_id ON logins (account_id)');
    await runner.query('CREATE INDEX logins_expires_at ON logins (expires_at)');
    await runner.query(`
      CREATE TABLE login_failures (
        "id" ${text} PRIMARY KEY NOT NULL,
        failures ${integer} NOT NULL,
        expires_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX login_failures_expires_at ON login_failures (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE login_failures');
    await runner.query('DROP TABLE logins');
    await runner.query('DROP TABLE accounts');
    if (isSqlite(runner)) await runner.query(`DELETE FROM sqlite_sequence WHERE name = 'accounts'`);
  }
}
