import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** Public profiles, and user 1, the author of all posts that are created over REST. */
export class Users1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE users (
        "id" ${id},
        name ${text} NOT NULL,
        email ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        updated_at ${timestamp} NOT NULL
      )`);

    const now = new Date().toISOString();
    await runner.query(
      `INSERT INTO users (name, email, created_at, updated_at) VALUES ('Author', '', '${now}', '${now}')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE users');
    if (isSqlite(runner)) await runner.query(`DELETE FROM sqlite_sequence WHERE name = 'users'`);
  }
}
