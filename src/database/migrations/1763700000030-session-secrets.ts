import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** Sessions. Only the hash of the secret in the cookie is stored. */
export class SessionSecrets1763700000030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { text } = columnTypes(runner);
    await runner.query(`ALTER TABLE logins ADD COLUMN secret_hash ${text}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE logins DROP COLUMN secret_hash');
  }
}
