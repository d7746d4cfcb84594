import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** Orders. The payload is JSON as text, because JSON columns would change its numbers. */
export class Orders1763700000020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE orders (
        "id" ${id},
        status ${text} NOT NULL,
        payload ${text} NOT NULL,
        created_at ${timestamp} NOT NULL
      )`);
    await runner.query('CREATE INDEX orders_created_at ON orders (created_at, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE orders');
    if (isSqlite(runner)) await runner.query(`DELETE FROM sqlite_sequence WHERE name = 'orders'`);
  }
}
