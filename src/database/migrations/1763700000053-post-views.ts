import type { MigrationInterface, QueryRunner } from 'typeorm';
import * as postgres from './1763700000053-post-views.postgres.js';
import * as sqlite from './1763700000053-post-views.sqlite.js';
import { columnTypes, isSqlite } from './column-types.js';
import { growVersions } from './row-versions.js';

/**
 * Moves the view counts to a narrow table. When they were an indexed column of `posts`, each count rewrote all index
 * entries of its post on PostgreSQL, including those of the search.
 */
export class PostViews1763700000053 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE post_views (
        "post_id" ${integer} PRIMARY KEY NOT NULL,
        post_status ${text} NOT NULL,
        views ${integer} NOT NULL,
        CONSTRAINT "post_views_post_id_fkey" FOREIGN KEY ("post_id") REFERENCES "posts" ("id") ON DELETE CASCADE
      )`);
    await runner.query(
      'INSERT INTO post_views (post_id, post_status, views) SELECT id, status, views FROM posts',
    );
    await runner.query('CREATE INDEX post_views_views ON post_views (views, post_id)');
    await runner.query('CREATE INDEX post_views_status_views ON post_views (post_status, views, post_id)');
    for (const statement of isSqlite(runner) ? sqlite.UP : postgres.UP) await runner.query(statement);

    await this.countVersions(runner);
    await runner.query('DROP INDEX posts_views');
    await runner.query('ALTER TABLE posts DROP COLUMN views');
  }

  async down(runner: QueryRunner): Promise<void> {
    const { integer } = columnTypes(runner);
    await runner.query(`ALTER TABLE posts ADD COLUMN views ${integer} NOT NULL DEFAULT 0`);
    await this.countVersions(runner, 'views');
    await runner.query('UPDATE posts SET views = (SELECT views FROM post_views WHERE post_id = posts.id)');
    await runner.query('CREATE INDEX posts_views ON posts (views, id)');
    for (const statement of isSqlite(runner) ? sqlite.DOWN : postgres.DOWN) await runner.query(statement);
    await runner.query('DROP TABLE post_views');
  }

  private async countVersions(runner: QueryRunner, except?: string): Promise<void> {
    await runner.query(`DROP TRIGGER posts_version ${isSqlite(runner) ? '' : 'ON posts'}`);
    await growVersions(runner, 'posts', except);
  }
}
