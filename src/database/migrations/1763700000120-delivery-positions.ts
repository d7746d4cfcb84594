import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the deliveries that still need events which will be purged. */
export class DeliveryPositions1763700000120 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE INDEX webhook_deliveries_position ON webhook_deliveries (position) WHERE body IS NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX webhook_deliveries_position');
  }
}
