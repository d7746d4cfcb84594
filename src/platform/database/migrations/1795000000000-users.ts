import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';
import { growVersions } from './row-versions.js';

/** Concurrent writers have different backends, so they usually lock different slots. */
const onPostgres = (event: 'insert' | 'delete', rows: 'NEW' | 'OLD', sign: '' | '-') => [
  `CREATE FUNCTION user_totals_${event}() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     INSERT INTO user_totals AS counter (slot, total)
     SELECT pg_backend_pid() % 16, ${sign}count(*) FROM changed HAVING count(*) > 0
     ON CONFLICT (slot) DO UPDATE SET total = counter.total + excluded.total;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER user_totals_${event} AFTER ${event} ON users
   REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION user_totals_${event}()`,
];

/** One slot is enough: there is one writer. */
const onSqlite = (event: 'insert' | 'delete', sign: '+' | '-') =>
  `CREATE TRIGGER user_totals_${event} AFTER ${event} ON users
   BEGIN UPDATE user_totals SET total = total ${sign} 1 WHERE slot = 0; END`;

const SQLITE = [onSqlite('insert', '+'), onSqlite('delete', '-')];
const POSTGRES = [
  // The few rows change constantly. Free space on each page allows HOT updates, which keep the table small.
  'ALTER TABLE user_totals SET (fillfactor = 20)',
  ...onPostgres('insert', 'NEW', ''),
  ...onPostgres('delete', 'OLD', '-'),
];

/**
 * Public profiles, their number, and user 1, the author of all posts that are created over REST. Triggers update the
 * number in the transaction of each change, because `COUNT(*)` reads every user. It is the sum of its slots.
 */
export class Users1795000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE users (
        "id" ${id},
        name ${text} NOT NULL,
        email ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        updated_at ${timestamp} NOT NULL,
        version integer NOT NULL DEFAULT 1
      )`);
    await growVersions(runner, 'users');
    const now = new Date().toISOString();
    await runner.query(
      `INSERT INTO users (name, email, created_at, updated_at) VALUES ('Author', '', '${now}', '${now}')`,
    );
    await runner.query(`
      CREATE TABLE user_totals (
        slot ${integer} PRIMARY KEY NOT NULL,
        total ${integer} NOT NULL
      )`);
    await runner.query('INSERT INTO user_totals (slot, total) SELECT 0, count(*) FROM users');
    for (const statement of isSqlite(runner) ? SQLITE : POSTGRES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE users');
    await runner.query('DROP TABLE user_totals');
    if (isSqlite(runner)) return;
    for (const name of ['user_totals_insert', 'user_totals_delete', 'grow_version'])
      await runner.query(`DROP FUNCTION ${name}`);
  }
}
