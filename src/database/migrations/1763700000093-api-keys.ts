import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

export class ApiKeys1763700000093 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE api_keys (
        "id" ${id},
        account_id ${integer} NOT NULL,
        name ${text} NOT NULL,
        prefix ${text} NOT NULL,
        scope ${text} NOT NULL,
        key_hash ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        last_used_at ${timestamp},
        expires_at ${timestamp},
        CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
      )`);
    await runner.query('CREATE UNIQUE INDEX api_keys_key_hash ON api_keys (key_hash)');
    await runner.query('CREATE INDEX api_keys_account_id ON api_keys (account_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE api_keys');
  }
}
