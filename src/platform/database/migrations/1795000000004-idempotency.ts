import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** Stored responses, which are repeated for retries. */
export class Idempotency1795000000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE idempotency_records (
        "id" ${text} PRIMARY KEY NOT NULL,
        fingerprint ${text} NOT NULL,
        status ${integer} NOT NULL,
        headers ${text} NOT NULL,
        body ${text} NOT NULL,
        expires_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX idempotency_records_expires_at ON idempotency_records (expires_at)');
    // The accounts whose deletion deletes the responses.
    await runner.query(`
      CREATE TABLE idempotency_accounts (
        record_id ${text} PRIMARY KEY NOT NULL REFERENCES idempotency_records (id) ON DELETE CASCADE,
        account_id ${integer} NOT NULL
      )`);
    await runner.query('CREATE INDEX idempotency_accounts_account_id ON idempotency_accounts (account_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['idempotency_accounts', 'idempotency_records'])
      await runner.query(`DROP TABLE ${table}`);
  }
}
