import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

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
const onSqlite = (event: 'insert' | 'delete', sign: '+' | '-') => [
  `CREATE TRIGGER user_totals_${event} AFTER ${event} ON users
   BEGIN UPDATE user_totals SET total = total ${sign} 1 WHERE slot = 0; END`,
];

/**
 * The number of users. Triggers update it in the transaction of each change, because `COUNT(*)` reads every user. The
 * total is the sum of the slots.
 */
export class UserTotals1763700000110 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE user_totals (
        slot ${integer} PRIMARY KEY NOT NULL,
        total ${integer} NOT NULL
      )`);
    const triggers = isSqlite(runner)
      ? [...onSqlite('insert', '+'), ...onSqlite('delete', '-')]
      : [
          'ALTER TABLE user_totals SET (fillfactor = 20)',
          ...onPostgres('insert', 'NEW', ''),
          ...onPostgres('delete', 'OLD', '-'),
        ];
    for (const statement of triggers) await runner.query(statement);
    // After the triggers, whose creation waits for concurrent writes.
    await runner.query('INSERT INTO user_totals (slot, total) SELECT 0, count(*) FROM users');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const event of ['insert', 'delete']) {
      await runner.query(`DROP TRIGGER user_totals_${event}${isSqlite(runner) ? '' : ' ON users'}`);
      if (!isSqlite(runner)) await runner.query(`DROP FUNCTION user_totals_${event}`);
    }
    await runner.query('DROP TABLE user_totals');
  }
}
