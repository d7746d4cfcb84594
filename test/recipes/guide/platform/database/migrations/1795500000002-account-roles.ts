import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from '../../../../../../src/platform/database/migrations/column-types.js';

export class AccountRoles1795500000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE account_roles (
        "account_id" ${integer} NOT NULL,
        "role" ${text} NOT NULL,
        PRIMARY KEY ("account_id", "role"),
        CONSTRAINT "account_roles_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE account_roles');
  }
}
