import type { MigrationInterface, QueryRunner } from 'typeorm';
import * as sqlite from './1763700000054-large-posts.sqlite.js';
import { isSqlite } from './column-types.js';

/** Excludes large contents from the search index of SQLite, because indexing them would block the process. */
export class LargePosts1763700000054 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    if (!isSqlite(runner)) return;
    for (const statement of sqlite.UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    if (!isSqlite(runner)) return;
    for (const statement of sqlite.DOWN) await runner.query(statement);
  }
}
