import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isSqlite } from './column-types.js';
import * as postgres from './1763700000003-post-search.postgres.js';
import * as sqlite from './1763700000003-post-search.sqlite.js';

/** Trigram indexes of the case-folded text of posts, updated by the database. */
export class PostSearch1763700000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of isSqlite(runner) ? sqlite.UP : postgres.UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of isSqlite(runner) ? sqlite.DOWN : postgres.DOWN) await runner.query(statement);
  }
}
