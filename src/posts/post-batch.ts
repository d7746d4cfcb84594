import type { Queries } from '../database/queries.js';
import type { Transactions } from '../database/transactions.js';
import type { EventOutbox } from '../events/index.js';
import type { PostStatus } from './post.entity.js';
import { changeOf, POST_EVENTS } from './post.events.js';
import {
  INSERTED_COLUMNS,
  POST_FIELDS,
  type PostFields,
  UPDATED_COLUMNS,
  valuesOf,
} from './post.statements.js';
import { POST_ROW, type PostRow, type PostView, toPostView } from './post.view.js';

/** Checked fields; without a status a draft, or in an update unchanged. */
export interface NewPost extends PostFields {
  readonly authorId: number;
  /** The time of the creation, or of the update. */
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
 * @param events records an event for each post; without it, consumers do not see them
 * @returns the number of new posts
 */
export function insertPosts(
  { queries: { dialect }, transactions }: Database,
  posts: readonly NewPost[],
  events?: EventOutbox,
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
       RETURNING ${events ? POST_ROW : 'id'}`,
      { posts: JSON.stringify(posts.map((post) => toRecord(post, 'draft'))) },
    );
    const created = inserted.toSorted((a, b) => a.id - b.id).map(toPostView);
    await events?.record(...created.map((post) => POST_EVENTS.of('created', post)));
    return inserted.length;
  });
}

/** A post with its id and times, as the API returns it. */
interface RestoredPost extends PostView {
  readonly source?: string | null | undefined;
}

/** Inserts checked posts with their ids in one statement, for commands, and records events. */
export async function restorePosts(
  { queries: { dialect }, transactions }: Database,
  posts: readonly RestoredPost[],
  events: EventOutbox,
): Promise<void> {
  const columns = ['id', ...INSERTED_COLUMNS, 'source'];
  const records = posts.map((post) => ({ ...post, ...valuesOf(post) }));
  const inserted = await transactions.execute<PostRow>(
    `INSERT INTO posts (${columns.join(', ')})
     SELECT ${columns.join(', ')} FROM ${dialect.recordsOf('posts', columns, ':posts')} AS sent
     RETURNING ${POST_ROW}`,
    { posts: JSON.stringify(records) },
  );
  const created = inserted.toSorted((a, b) => a.id - b.id).map(toPostView);
  await events.record(...created.map((post) => POST_EVENTS.of('created', post)));
}

/** Updates the posts of these sources in one statement, and records events. @returns the number of changed posts */
export function updatePosts(
  { queries, transactions }: Database,
  posts: readonly NewPost[],
  events: EventOutbox,
): Promise<number> {
  const { dialect } = queries;
  const sent = dialect.recordsOf('posts', [...UPDATED_COLUMNS, 'updated_at', 'source'], ':posts');
  const valueAfter = (column: string) => `coalesce(sent.${column}, posts.${column})`;
  const records = { posts: JSON.stringify(posts.map((post) => toRecord(post, null))) };
  return transactions.run(async () => {
    const before = await queries.all<{ id: number; status: PostStatus }>(
      `SELECT id, status FROM posts WHERE source IN (SELECT sent.source FROM ${sent} AS sent)
       ORDER BY id ${dialect.lockRowsForUpdate}`,
      records,
    );
    const statuses = new Map(before.map(({ id, status }) => [id, status]));
    const changed = await transactions.execute<PostRow>(
      `UPDATE posts SET ${UPDATED_COLUMNS.map((column) => `${column} = ${valueAfter(column)}`).join(', ')},
         updated_at = ${dialect.forward('posts.updated_at', 'sent.updated_at')}, version = posts.version + 1
       FROM ${sent} AS sent
       WHERE posts.source = sent.source
         AND (${POST_FIELDS.map((field) => `posts.${field} IS DISTINCT FROM ${valueAfter(field)}`).join(' OR ')})
       RETURNING ${POST_ROW.replaceAll(/\w+/g, 'posts.$&')}`,
      records,
    );
    await events.record(
      ...changed
        .toSorted((a, b) => a.id - b.id)
        .map((post) => {
          const change = changeOf(statuses.get(post.id) ?? post.status, post.status);
          return POST_EVENTS.of(change, toPostView(post));
        }),
    );
    return changed.length;
  });
}

const toRecord = (post: NewPost, defaultStatus: PostStatus | null): object => ({
  ...valuesOf(post),
  status: post.status || defaultStatus,
  author_id: post.authorId,
  created_at: post.createdAt,
  updated_at: post.createdAt,
  source: post.source,
});
