import type { MigrationInterface, QueryRunner } from 'typeorm';
import { putTextsLast } from './1763700000087-post-texts-last.sqlite.js';
import { isSqlite } from './column-types.js';

/**
 * Moves the contents of posts behind their other columns on SQLite. To read a column, SQLite reads all pages of the
 * columns before it: 500 for a post of one megabyte. PostgreSQL stores large texts elsewhere.
 */
export class PostTextsLast1763700000087 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    if (isSqlite(runner)) await putTextsLast(runner);
  }

  /** The order of the columns makes no other difference. */
  async down(): Promise<void> {}
}
