import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** Webhooks, their deliveries, and the events that deliveries need longer than the log. */
export class Webhooks1795000000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp, boolean } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE webhooks (
        "id" ${id},
        url ${text} NOT NULL,
        types ${text} NOT NULL,
        description ${text} NOT NULL,
        active ${boolean} NOT NULL,
        secret ${text} NOT NULL,
        replaced_secrets ${text},
        after_position ${integer} NOT NULL,
        failing_since ${timestamp},
        created_at ${timestamp} NOT NULL,
        updated_at ${timestamp} NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE webhook_deliveries (
        "id" ${id},
        webhook_id ${integer} NOT NULL,
        event_id ${text} NOT NULL,
        position ${integer},
        body ${text},
        type ${text} NOT NULL,
        status ${text} NOT NULL,
        attempts ${integer} NOT NULL,
        fence ${integer} NOT NULL DEFAULT 0,
        claims ${integer} NOT NULL DEFAULT 0,
        next_attempt_at ${timestamp},
        response_status ${integer},
        error ${text},
        created_at ${timestamp} NOT NULL,
        expires_at ${timestamp} NOT NULL,
        CONSTRAINT "webhook_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks" ("id")
          ON DELETE CASCADE
      )`);
    await runner.query(
      'CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (webhook_id, event_id)',
    );
    await runner.query('CREATE INDEX webhook_deliveries_list ON webhook_deliveries (webhook_id, id)');
    await runner.query(
      'CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, status, next_attempt_at)',
    );
    await runner.query('CREATE INDEX webhook_deliveries_expires_at ON webhook_deliveries (expires_at)');
    await runner.query('CREATE INDEX webhook_deliveries_position ON webhook_deliveries (position)');
    // For the metrics: each scrape reads the age of the oldest delivery that waits.
    await runner.query(
      `CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (created_at) WHERE status = 'pending'`,
    );
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
    await runner.query('DROP TABLE webhook_deliveries');
    await runner.query('DROP TABLE webhooks');
  }
}
