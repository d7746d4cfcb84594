import type { Queries } from '../database/queries.js';
import type { Transactions } from '../database/transactions.js';
import type { EventOutbox } from '../events/index.js';
import { caseFold } from './case-fold.js';
import type { PostStatus } from './post.entity.js';
import { changeOf, POST_EVENTS } from './post.events.js';
import { POST_ROW, type PostRow, toPostView } from './post.view.js';

export interface NewPost {
  readonly title: string;
  readonly content: string;
  /** Absent: a draft; in an update, unchanged. */
  readonly status?: PostStatus | undefined;
  readonly authorId: number;
  readonly createdAt: Date;
  /** The origin: a second post with the same source is not inserted. */
  readonly source?: string | undefined;
}

interface Database {
  readonly queries: Queries;
  readonly transactions: Transactions;
}

const field = (name: string) => `post.value ->> '${name}'`;

/**
 * Inserts checked posts in one statement, in order; for commands that write many.
 *
 * @param events records an event for each post; without it, consumers do not see them
 * @returns the number of new posts
 */
export function insertPosts(
  database: Database,
  posts: readonly NewPost[],
  events?: EventOutbox,
): Promise<number> {
  return database.transactions.run(async () => {
    const inserted = await insert(database, posts, events ? POST_ROW : 'id');
    const created = inserted.toSorted((a, b) => a.id - b.id).map(toPostView);
    await events?.record(...created.map((post) => POST_EVENTS.of('created', post)));
    return inserted.length;
  });
}

function insert(
  { queries: { dialect }, transactions }: Database,
  posts: readonly NewPost[],
  columns: string,
): Promise<PostRow[]> {
  const createdAt = dialect.toTimestamp(field('createdAt'));
  return transactions.execute<PostRow>(
    `INSERT INTO posts
       (title, content, title_folded, content_folded, source, author_id, status, created_at, updated_at)
     SELECT ${['title', 'content', 'titleFolded', 'contentFolded', 'source'].map(field).join(', ')},
       CAST(${field('authorId')} AS bigint), coalesce(${field('status')}, 'draft'), ${createdAt}, ${createdAt}
     FROM ${dialect.elementsOf(':posts')} AS post
     WHERE NOT EXISTS (SELECT 1 FROM posts AS known WHERE known.source = ${field('source')})
     ORDER BY CAST(${field('place')} AS bigint)
     ON CONFLICT (source) WHERE source IS NOT NULL DO NOTHING
     RETURNING ${columns}`,
    { posts: toRows(posts) },
  );
}

/** Updates the posts of these sources in one statement, and records events. @returns the number of changed posts */
export function updatePosts(
  database: Database,
  posts: readonly NewPost[],
  events: EventOutbox,
): Promise<number> {
  const { queries, transactions } = database;
  return transactions.run(async () => {
    const before = await queries.all<{ id: number; status: PostStatus }>(
      `SELECT id, status FROM posts WHERE source IN (
         SELECT ${field('source')} FROM ${queries.dialect.elementsOf(':posts')} AS post
       ) ORDER BY id ${queries.dialect.lockRowsForUpdate}`,
      { posts: JSON.stringify(posts.map(({ source }) => ({ source }))) },
    );
    const statuses = new Map(before.map(({ id, status }) => [id, status]));
    const changed = (await update(database, posts)).toSorted((a, b) => a.id - b.id);
    await events.record(
      ...changed.map((post) => {
        const change = changeOf(statuses.get(post.id) ?? post.status, post.status);
        return POST_EVENTS.of(change, toPostView(post));
      }),
    );
    return changed.length;
  });
}

function update(
  { queries: { dialect }, transactions }: Database,
  posts: readonly NewPost[],
): Promise<PostRow[]> {
  const fields = {
    title: 'title',
    content: 'content',
    titleFolded: 'title_folded',
    contentFolded: 'content_folded',
  };
  const columns = Object.entries({ ...fields, status: 'status', source: 'source' });
  return transactions.execute<PostRow>(
    `UPDATE posts SET ${Object.values(fields)
      .map((column) => `${column} = sent.${column}`)
      .join(', ')},
       status = coalesce(sent.status, posts.status), version = posts.version + 1,
       updated_at = ${dialect.forward('posts.updated_at', ':now')}
     FROM (
       SELECT ${columns.map(([name, column]) => `${field(name)} AS ${column}`).join(', ')}
       FROM ${dialect.elementsOf(':posts')} AS post
     ) AS sent
     WHERE posts.source = sent.source AND (posts.title <> sent.title OR posts.content <> sent.content
       OR posts.status <> coalesce(sent.status, posts.status))
     RETURNING ${POST_ROW.split(', ')
       .map((column) => `posts.${column}`)
       .join(', ')}`,
    { posts: toRows(posts), now: new Date().toISOString() },
  );
}

const toRows = (posts: readonly NewPost[]): string =>
  JSON.stringify(
    posts.map((post, place) => ({
      ...post,
      place,
      titleFolded: caseFold(post.title),
      contentFolded: caseFold(post.content),
    })),
  );
