import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** The mail outbox, and its rate limits. */
export class Mails1795000000005 implements MigrationInterface {
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
    // For the metrics: each scrape reads the age of the oldest mail.
    await runner.query('CREATE INDEX mails_created_at ON mails (created_at)');
    await runner.query(`
      CREATE TABLE mail_limits (
        "id" ${text} PRIMARY KEY NOT NULL,
        sent ${integer} NOT NULL DEFAULT 1,
        next_at ${timestamp},
        expires_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX mail_limits_expires_at ON mail_limits (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mail_limits');
    await runner.query('DROP TABLE mails');
  }
}
