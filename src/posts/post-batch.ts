import type { Queries } from '../platform/database/queries.js';
import type { Transactions } from '../platform/database/transactions.js';
import type { Changes } from '../platform/changes/index.js';
import type { PostStatus } from './post.entity.js';
import { POST_EVENTS } from './post.events.js';
import { INSERTED_COLUMNS, type PostFields, valuesOf } from './post.statements.js';
import { POST_ROW, type PostRow, toPostView } from './post.view.js';

/** Checked fields; without a status a draft. */
export interface NewPost extends PostFields {
  readonly authorId: number;
  readonly createdAt: Date;
  /** The origin: a second post with the same source is not inserted. */
  readonly source?: string | undefined;
}

interface Database {
  readonly queries: Queries;
  readonly transactions: Transactions;
}

/**
 * Inserts checked posts in one statement, in order; for commands that write many.
 *
 * @param changes records an event for each post; without it, consumers do not see them
 * @returns the number of new posts
 */
export function insertPosts(
  { queries: { dialect }, transactions }: Database,
  posts: readonly NewPost[],
  changes?: Changes,
): Promise<number> {
  const columns = [...INSERTED_COLUMNS, 'source'];
  const sent = dialect.recordsOf('posts', columns, ':posts');
  return transactions.run(async () => {
    const inserted = await transactions.execute<PostRow>(
      `INSERT INTO posts (${columns.join(', ')})
       SELECT ${columns.join(', ')} FROM ${sent} AS sent
       WHERE NOT EXISTS (SELECT 1 FROM posts AS known WHERE known.source = sent.source)
       ORDER BY sent.place
       ON CONFLICT (source) WHERE source IS NOT NULL DO NOTHING
       RETURNING ${changes ? POST_ROW : 'id'}`,
      { posts: JSON.stringify(posts.map(toRecord)) },
    );
    const created = inserted.toSorted((a, b) => a.id - b.id).map(toPostView);
    await changes?.recordEvents(created.map((post) => POST_EVENTS.of('created', post)));
    return inserted.length;
  });
}

const toRecord = (post: NewPost): object => ({
  ...valuesOf(post),
  status: post.status || ('draft' satisfies PostStatus),
  author_id: post.authorId,
  created_at: post.createdAt,
  updated_at: post.createdAt,
  source: post.source,
});
