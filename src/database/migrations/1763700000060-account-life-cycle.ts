import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** The mail outbox, its rate limits, and the account tokens that mails contain. */
export class AccountLifeCycle1763700000060 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE mails (
        "id" ${text} PRIMARY KEY NOT NULL,
        kind ${text} NOT NULL,
        owner ${text} NOT NULL,
        data ${text} NOT NULL,
        attempts ${integer} NOT NULL,
        next_attempt_at ${timestamp} NOT NULL,
        created_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX mails_next_attempt_at ON mails (next_attempt_at)');
    await runner.query('CREATE INDEX mails_owner ON mails (owner)');
    await runner.query(`
      CREATE TABLE mail_limits (
        "id" ${text} PRIMARY KEY NOT NULL,
        expires_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX mail_limits_expires_at ON mail_limits (expires_at)');
    await runner.query(`
      CREATE TABLE account_tokens (
        "id" ${text} PRIMARY KEY NOT NULL,
        account_id ${integer} NOT NULL,
        purpose ${text} NOT NULL,
        email ${text} NOT NULL,
        expires_at ${timestamp} NOT NULL,
        CONSTRAINT "account_tokens_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query('CREATE UNIQUE INDEX account_tokens_purpose ON account_tokens (account_id, purpose)');
    await runner.query('CREATE INDEX account_tokens_expires_at ON account_tokens (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE account_tokens');
    await runner.query('DROP TABLE mail_limits');
    await runner.query('DROP TABLE mails');
  }
}
