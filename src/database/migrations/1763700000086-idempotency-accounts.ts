import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/**
 * The responsible accounts of stored responses, whose deletion deletes the responses. A table of its own, because an
 * index of the records would have to be built outside of the transaction of all migrations.
 */
export class IdempotencyAccounts1763700000086 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE idempotency_accounts (
        record_id ${text} PRIMARY KEY NOT NULL REFERENCES idempotency_records (id) ON DELETE CASCADE,
        account_id ${integer} NOT NULL
      )`);
    await runner.query('CREATE INDEX idempotency_accounts_account_id ON idempotency_accounts (account_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE idempotency_accounts');
  }
}
