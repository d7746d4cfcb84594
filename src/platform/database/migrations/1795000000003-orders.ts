import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';
import { growVersions } from './row-versions.js';

/** Orders. The payload is JSON as text, because JSON columns would change its numbers. */
export class Orders1795000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE orders (
        "id" ${id},
        account_id ${integer},
        status ${text} NOT NULL,
        payload ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        version integer NOT NULL DEFAULT 1,
        CONSTRAINT "orders_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
          ON DELETE SET NULL
      )`);
    await runner.query('CREATE INDEX orders_created_at ON orders (created_at, id)');
    await runner.query('CREATE INDEX orders_account_created_at ON orders (account_id, created_at, id)');
    await growVersions(runner, 'orders');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE orders');
  }
}
