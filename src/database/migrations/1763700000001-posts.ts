import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

/** Posts. The folded columns have the case-folded title and content, which the search compares. */
export class Posts1763700000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE posts (
        "id" ${id},
        title ${text} NOT NULL,
        content ${text} NOT NULL,
        author_id ${integer} NOT NULL,
        status ${text} NOT NULL,
        views ${integer} NOT NULL DEFAULT 0,
        created_at ${timestamp} NOT NULL,
        updated_at ${timestamp} NOT NULL,
        title_folded ${text} NOT NULL,
        content_folded ${text} NOT NULL,
        CONSTRAINT "posts_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "users" ("id")
      )`);
    await runner.query('CREATE INDEX posts_created_at ON posts (created_at, id)');
    await runner.query('CREATE INDEX posts_status_created_at ON posts (status, created_at, id)');
    await runner.query('CREATE INDEX posts_author_created_at ON posts (author_id, created_at, id)');
    await runner.query('CREATE INDEX posts_title ON posts (title, id)');
    await runner.query('CREATE INDEX posts_views ON posts (views, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE posts');
    if (isSqlite(runner)) await runner.query(`DELETE FROM sqlite_sequence WHERE name = 'posts'`);
  }
}
