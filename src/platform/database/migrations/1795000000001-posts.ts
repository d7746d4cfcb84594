import type { MigrationInterface, QueryRunner } from 'typeorm';
import { POSTGRES_DOWN, POSTGRES_UP } from './1795000000001-posts.postgres.js';
import { SQLITE_DOWN, SQLITE_UP } from './1795000000001-posts.sqlite.js';
import { columnTypes, isSqlite } from './column-types.js';
import { growVersions } from './row-versions.js';

/**
 * Posts, and what triggers keep in the transaction of each change: the numbers of posts by status and by author, because
 * `COUNT(*)` reads every post, and the search index. The folded columns have the case-folded title and content, which
 * the search compares.
 */
export class Posts1795000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    // The texts are last: to read a column, SQLite reads all pages of the columns before it.
    await runner.query(`
      CREATE TABLE posts (
        "id" ${id},
        author_id ${integer} NOT NULL,
        status ${text} NOT NULL,
        created_at ${timestamp} NOT NULL,
        updated_at ${timestamp} NOT NULL,
        version integer NOT NULL DEFAULT 1,
        title ${text} NOT NULL,
        title_folded ${text} NOT NULL,
        content ${text} NOT NULL,
        content_folded ${text} NOT NULL,
        CONSTRAINT "posts_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "users" ("id")
      )`);
    await runner.query('CREATE INDEX posts_created_at ON posts (created_at, id)');
    await runner.query('CREATE INDEX posts_status_created_at ON posts (status, created_at, id)');
    await runner.query('CREATE INDEX posts_author_created_at ON posts (author_id, created_at, id)');
    await runner.query('CREATE INDEX posts_title ON posts (title, id)');
    await runner.query('CREATE INDEX posts_status_title ON posts (status, title, id)');
    await growVersions(runner, 'posts');

    await runner.query(`
      CREATE TABLE post_totals (
        scope ${text} NOT NULL,
        slot ${integer} NOT NULL,
        total ${integer} NOT NULL,
        PRIMARY KEY (scope, slot)
      )`);
    // A narrow table: as a column of `posts`, each count would rewrite all index entries of its post on PostgreSQL.
    await runner.query(`
      CREATE TABLE post_views (
        "post_id" ${integer} PRIMARY KEY NOT NULL,
        post_status ${text} NOT NULL,
        views ${integer} NOT NULL,
        CONSTRAINT "post_views_post_id_fkey" FOREIGN KEY ("post_id") REFERENCES "posts" ("id") ON DELETE CASCADE
      )`);
    await runner.query('CREATE INDEX post_views_views ON post_views (views, post_id)');
    await runner.query('CREATE INDEX post_views_status_views ON post_views (post_status, views, post_id)');
    for (const statement of isSqlite(runner) ? SQLITE_UP : POSTGRES_UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['post_views', 'posts', 'post_totals']) await runner.query(`DROP TABLE ${table}`);
    for (const statement of isSqlite(runner) ? SQLITE_DOWN : POSTGRES_DOWN) await runner.query(statement);
  }
}
