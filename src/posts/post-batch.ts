import type { EntityManager } from 'typeorm';
import { columnTypes, isSqlite } from '../database/migrations/column-types.js';
import { fold } from './fold.js';
import type { PostStatus } from './post.entity.js';

export interface NewPost {
  readonly title: string;
  readonly content: string;
  readonly status: PostStatus;
  readonly authorId: number;
  readonly createdAt: Date;
}

/** Inserts checked posts in one statement, in their order; for commands that write many. */
export async function insertPosts(manager: EntityManager, posts: readonly NewPost[]): Promise<void> {
  const runner = manager.queryRunner!;
  const { timestamp, integer } = columnTypes(runner);
  const from = isSqlite(runner) ? 'json_each(?)' : 'json_array_elements($1::json)';
  const field = (name: string) => `post.value ->> '${name}'`;
  const createdAt = `CAST(${field('createdAt')} AS ${timestamp})`;
  const rows = posts.map((post) => ({
    ...post,
    titleFolded: fold(post.title),
    contentFolded: fold(post.content),
  }));
  await runner.query(
    `INSERT INTO posts
       (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
     SELECT ${['title', 'content', 'titleFolded', 'contentFolded'].map(field).join(', ')},
       CAST(${field('authorId')} AS ${integer}), ${field('status')}, ${createdAt}, ${createdAt}
     FROM ${from} AS post`,
    [JSON.stringify(rows)],
  );
}
