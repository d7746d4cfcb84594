import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** The events that deliveries need longer than the log. */
export class WebhookEvents1763700000121 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE webhook_events (
        position ${integer} PRIMARY KEY NOT NULL,
        epoch ${text} NOT NULL,
        type ${text} NOT NULL,
        subject ${text} NOT NULL,
        time ${timestamp} NOT NULL,
        data ${text} NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE webhook_events');
  }
}
