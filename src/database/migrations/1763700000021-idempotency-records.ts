import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** Stored responses, which are repeated for retries. */
export class IdempotencyRecords1763700000021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE idempotency_records (
        "id" ${text} PRIMARY KEY NOT NULL,
        fingerprint ${text} NOT NULL,
        status ${integer} NOT NULL,
        headers ${text} NOT NULL,
        body ${text},
        expires_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX idempotency_records_expires_at ON idempotency_records (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE idempotency_records');
  }
}
