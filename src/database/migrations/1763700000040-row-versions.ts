import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isSqlite } from './column-types.js';
import { growVersions } from './row-versions.js';

/** Row versions, from which entity tags are computed. */
export class RowVersions1763700000040 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN version integer NOT NULL DEFAULT 1`);
      // A new view count is not a new version of the post.
      await growVersions(runner, table, table === 'posts' ? 'views' : undefined);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`DROP TRIGGER ${table}_version ${isSqlite(runner) ? '' : `ON ${table}`}`);
      await runner.query(`ALTER TABLE ${table} DROP COLUMN version`);
    }
    if (!isSqlite(runner)) await runner.query('DROP FUNCTION grow_version');
  }
}

const TABLES = ['users', 'posts', 'orders'];
