import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes for the metrics: each scrape reads the age of the oldest mail and of the oldest delivery. */
export class QueueAges1763700000082 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX mails_created_at ON mails (created_at)');
    await runner.query(
      `CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (created_at) WHERE status = 'pending'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX webhook_deliveries_pending');
    await runner.query('DROP INDEX mails_created_at');
  }
}
