import { randomBytes } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/**
 * Events, written in the transaction of their change. On PostgreSQL an event gets its position after its commit,
 * because transactions may commit in a different order than they take numbers. SQLite has only one writer.
 */
export class Events1795000000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp, boolean } = columnTypes(runner);
    const numbers = isSqlite(runner) ? `position ${id}` : `"id" ${id}, position ${integer}`;
    await runner.query(`
      CREATE TABLE events (
        ${numbers},
        epoch ${text}${isSqlite(runner) ? ' NOT NULL' : ''},
        type ${text} NOT NULL,
        subject ${text} NOT NULL,
        time ${timestamp} NOT NULL,
        data ${text} NOT NULL,
        is_private ${boolean} NOT NULL,
        owner_id ${integer}
      )`);
    if (!isSqlite(runner)) {
      await runner.query(
        'CREATE UNIQUE INDEX events_position ON events (position) WHERE position IS NOT NULL',
      );
      await runner.query('CREATE INDEX events_unnumbered ON events ("id") WHERE position IS NULL');
    }
    const numbered = isSqlite(runner) ? '' : 'WHERE position IS NOT NULL';
    await runner.query(`CREATE INDEX events_type ON events (type, position) ${numbered}`);
    await runner.query('CREATE INDEX events_owner ON events (owner_id, position) WHERE owner_id IS NOT NULL');

    // One row: the position counter. Assigning positions locks it.
    await runner.query(`
      CREATE TABLE event_log (
        "id" ${integer} PRIMARY KEY NOT NULL,
        epoch ${text} NOT NULL,
        last_position ${integer} NOT NULL,
        server ${text} NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE event_epochs (
        epoch ${text} PRIMARY KEY NOT NULL,
        first_position ${integer} NOT NULL
      )`);
    // The position and the lease of each durable subscriber.
    await runner.query(`
      CREATE TABLE event_subscribers (
        name ${text} PRIMARY KEY NOT NULL,
        position ${integer} NOT NULL,
        lease_owner ${text},
        lease_until ${timestamp},
        attempts ${integer} NOT NULL DEFAULT 0,
        next_attempt_at ${timestamp},
        error ${text}
      )`);
    const epoch = randomBytes(6).toString('hex');
    await runner.query(
      `INSERT INTO event_log (id, epoch, last_position, server) VALUES (1, '${epoch}', 0, '')`,
    );
    await runner.query(`INSERT INTO event_epochs (epoch, first_position) VALUES ('${epoch}', 1)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['event_subscribers', 'event_epochs', 'event_log', 'events'])
      await runner.query(`DROP TABLE ${table}`);
  }
}
