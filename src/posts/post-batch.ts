import type { Queries } from '../database/queries.js';
import type { Transactions } from '../database/transactions.js';
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
export async function insertPosts(
  { queries: { dialect }, transactions }: { queries: Queries; transactions: Transactions },
  posts: readonly NewPost[],
): Promise<void> {
  const field = (name: string) => `post.value ->> '${name}'`;
  const createdAt = dialect.toTimestamp(field('createdAt'));
  const rows = posts.map((post) => ({
    ...post,
    titleFolded: fold(post.title),
    contentFolded: fold(post.content),
  }));
  await transactions.execute(
    `INSERT INTO posts
       (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
     SELECT ${['title', 'content', 'titleFolded', 'contentFolded'].map(field).join(', ')},
       CAST(${field('authorId')} AS bigint), ${field('status')}, ${createdAt}, ${createdAt}
     FROM ${dialect.elementsOf(':posts')} AS post`,
    { posts: JSON.stringify(rows) },
  );
}
