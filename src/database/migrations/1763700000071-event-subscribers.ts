import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** The position and the lease of each durable subscriber. */
export class EventSubscribers1763700000071 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text, timestamp } = columnTypes(runner);
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
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE event_subscribers');
  }
}
