import { type MigrationInterface, type QueryRunner, TableForeignKey } from 'typeorm';
import { columnTypes } from './column-types.js';

/** Orders belong to the account that creates them. On SQLite this recreates the table, which would drop triggers. */
export class OrderOwners1763700000032 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer } = columnTypes(runner);
    await runner.query(`ALTER TABLE orders ADD COLUMN "account_id" ${integer}`);
    await runner.createForeignKey(
      'orders',
      new TableForeignKey({
        name: 'orders_account_id_fkey',
        columnNames: ['account_id'],
        referencedTableName: 'accounts',
        referencedColumnNames: ['id'],
        onDelete: 'SET NULL',
      }),
    );
    await runner.query('CREATE INDEX orders_account_created_at ON orders (account_id, created_at, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX orders_account_created_at');
    await runner.dropForeignKey('orders', 'orders_account_id_fkey');
    await runner.query('ALTER TABLE orders DROP COLUMN account_id');
  }
}
