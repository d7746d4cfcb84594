import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

const RECORDS = 'ON idempotency_records';

/** One slot is enough: there is one writer. */
const onSqlite = (amount: string) => `
  INSERT INTO idempotency_usage (slot, bytes) VALUES (0, ${amount})
  ON CONFLICT (slot) DO UPDATE SET bytes = bytes + excluded.bytes;`;

const SQLITE = [
  `CREATE TRIGGER idempotency_usage_insert AFTER INSERT ${RECORDS} BEGIN ${onSqlite('new.size')} END`,
  `CREATE TRIGGER idempotency_usage_update AFTER UPDATE OF size ${RECORDS}
   BEGIN ${onSqlite('new.size - old.size')} END`,
  `CREATE TRIGGER idempotency_usage_delete AFTER DELETE ${RECORDS} BEGIN ${onSqlite('-old.size')} END`,
];

/** Concurrent writers have different backends, so they usually lock different slots. */
const onPostgres = (event: string, on: string, changes: string) => [
  `CREATE FUNCTION idempotency_usage_${event}() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     INSERT INTO idempotency_usage AS counter (slot, bytes)
     SELECT pg_backend_pid() % 16, amount FROM (${changes}) AS change WHERE amount <> 0
     ON CONFLICT (slot) DO UPDATE SET bytes = counter.bytes + excluded.bytes;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER idempotency_usage_${event} AFTER ${on} EXECUTE FUNCTION idempotency_usage_${event}()`,
];

const POSTGRES = [
  // The few rows change constantly. Free space on each page allows HOT updates, which keep the table small.
  'ALTER TABLE idempotency_usage SET (fillfactor = 20)',
  ...onPostgres('insert', `INSERT ${RECORDS} FOR EACH ROW`, 'SELECT new.size AS amount'),
  ...onPostgres('update', `UPDATE OF size ${RECORDS} FOR EACH ROW`, 'SELECT new.size - old.size AS amount'),
  ...onPostgres(
    'delete',
    `DELETE ${RECORDS} REFERENCING OLD TABLE AS removed FOR EACH STATEMENT`,
    'SELECT -coalesce(sum(size), 0) AS amount FROM removed',
  ),
];

/**
 * Stored responses, which are repeated for retries. Triggers update their total size in the transaction of each change,
 * because a sum would read every record.
 */
export class Idempotency1795000000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE idempotency_records (
        "id" ${text} PRIMARY KEY NOT NULL,
        fingerprint ${text} NOT NULL,
        status ${integer} NOT NULL,
        headers ${text} NOT NULL,
        body ${text},
        encoding ${text},
        size ${integer} NOT NULL DEFAULT 0,
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
    await runner.query(`
      CREATE TABLE idempotency_usage (
        slot ${integer} PRIMARY KEY NOT NULL,
        bytes ${integer} NOT NULL
      )`);
    for (const statement of isSqlite(runner) ? SQLITE : POSTGRES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['idempotency_accounts', 'idempotency_records', 'idempotency_usage'])
      await runner.query(`DROP TABLE ${table}`);
    if (isSqlite(runner)) return;
    for (const event of ['insert', 'update', 'delete'])
      await runner.query(`DROP FUNCTION idempotency_usage_${event}`);
  }
}
