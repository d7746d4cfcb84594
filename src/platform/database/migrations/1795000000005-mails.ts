import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** The mail outbox. */
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
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mails');
  }
}
