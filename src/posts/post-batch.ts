import type { Queries } from '../platform/database/queries.js';
import type { Transactions } from '../platform/database/transactions.js';
import type { PostStatus } from './post.entity.js';
import { INSERTED_POST_COLUMNS, type PostFields, valuesOf } from './post.statements.js';

/** Checked fields; without a status a draft. */
export interface NewPost extends PostFields {
  readonly authorId: number;
  readonly createdAt: Date;
}

interface Database {
  readonly queries: Queries;
  readonly transactions: Transactions;
}

/** Inserts checked posts in one statement, in order, without events; for commands that write many. */
export async function insertPosts(
  { queries: { dialect }, transactions }: Database,
  posts: readonly NewPost[],
): Promise<void> {
  await transactions.execute(
    `INSERT INTO posts (${INSERTED_POST_COLUMNS.join(', ')})
     SELECT ${INSERTED_POST_COLUMNS.join(', ')} FROM ${dialect.recordsOf('posts', INSERTED_POST_COLUMNS, ':posts')} AS sent
     ORDER BY sent.place RETURNING id`,
    { posts: JSON.stringify(posts.map(toRecord)) },
  );
}

const toRecord = (post: NewPost): object => ({
  ...valuesOf(post),
  status: post.status || ('draft' satisfies PostStatus),
  author_id: post.authorId,
  created_at: post.createdAt,
  updated_at: post.createdAt,
});
