import { Injectable } from '@nestjs/common';
import { type Completion, CursorPage, type Page } from '../platform/http/pages/page.js';
import { type Keyset, type KeysetRequest, positionParameters } from '../platform/http/pages/keyset.js';
import { DEEP } from '../platform/http/pages/page-request.js';
import type { StatementParameters } from '../platform/database/statement.js';
import { Queries } from '../platform/database/queries.js';
import { POST_STATUSES } from './post.entity.js';
import type { ListPosts, ListPostsByCursor, PostFilter, SortedPosts } from './post.query.js';
import { LISTED_POST, type ListedPost, POST_SUMMARY, type PostSummary } from './post.view.js';
import type { PostSql } from './post-sql.js';
import { POSTGRES_POSTS } from './posts.postgres.js';
import { SQLITE_POSTS } from './posts.sqlite.js';

/** Above this multiple of offset + limit, posts are read in list order instead of using the search index. */
const MANY = 100;

/** On SQLite, reading more rows than this would delay other requests by more than some 20 milliseconds. */
const MANY_ROWS = 4000;

/** The lists of posts. Slow reads do not delay other requests. */
@Injectable()
export class PostLists {
  private readonly sql: PostSql;

  constructor(private readonly queries: Queries) {
    this.sql = { postgres: POSTGRES_POSTS, sqlite: SQLITE_POSTS }[queries.dialect.name];
  }

  /** Large contents are loaded when the page is sent, see {@link Page.completion}. */
  async list({ filter, sortBy, direction, page }: ListPosts): Promise<Page<ListedPost>> {
    if (filter === 'none') return page.of([], 0);
    const slow = page.isDeep || isUnordered(filter, sortBy);
    const byViews = sortBy === 'views';
    const read = (many = false) => {
      const { where, parameters } = this.matching(filter, { slow, many, byViews });
      return this.reading<ListedPost>(
        slow,
        `SELECT ${LISTED_POST} FROM ${byViews ? 'post_views, posts' : 'posts'} ${where}
         ORDER BY ${sortBy} ${direction}, ${byViews ? 'post_id' : 'id'} ${direction} LIMIT :limit OFFSET :offset`,
        { ...parameters, limit: page.limit, offset: page.offset },
      );
    };

    // The first page is requested most and never past the end, so it does not need the total first. But the
    // best way to search depends on the number of matches.
    if (page.offset === 0 && !readsMany(filter)) {
      const [total, posts] = await Promise.all([this.count(filter), read()]);
      return page.of(posts, total, this.completionOf(posts));
    }
    const total = await this.count(filter);
    const many = total > MANY * (page.offset + page.limit);
    const posts = page.offset < total ? await read(many) : [];
    return page.of(posts, total, this.completionOf(posts));
  }

  /** Like {@link list}, in the order of the ids. */
  async listByCursor({ filter, afterId, limit }: ListPostsByCursor): Promise<CursorPage<ListedPost>> {
    if (filter === 'none') return new CursorPage([], undefined, false);
    // No index has the posts of a status in the order of ids.
    const slow = filter.status !== undefined || filter.text !== undefined;
    const { where, parameters } = this.matching(filter, { and: 'id > :afterId', slow });
    const rows = await this.reading<ListedPost>(
      slow,
      `SELECT ${LISTED_POST} FROM posts ${where} ORDER BY id LIMIT :limit`,
      { ...parameters, afterId, limit: limit + 1 },
    );
    return CursorPage.of(rows, limit, (data) => this.completionOf(data));
  }

  /**
   * Like {@link list}, after a position of {@link keysetOf}: every page is read from an index, however deep it is.
   *
   * @param count the {@link total} of the filter, for a search; others do not need it
   */
  async listAfter(
    { filter, sortBy, direction }: SortedPosts,
    { after, limit }: KeysetRequest,
    count: () => Promise<number>,
  ): Promise<PositionedPost[]> {
    if (filter === 'none') return [];
    const byViews = sortBy === 'views';
    const slow = filter.text !== undefined;
    const many = slow && (await count()) > MANY * limit;
    const id = byViews ? 'post_id' : 'id';
    const orderedBy = (last: string) => `ORDER BY ${sortBy} ${direction}, ${last} ${direction} LIMIT :limit`;
    const ranges = after ? this.queries.dialect.rangesAfter([sortBy, id], direction) : [undefined];
    const matches = ranges.map((and) => this.matching(filter, { and, slow, many, byViews }));
    const parts = matches.map(
      ({ where }) =>
        `SELECT ${POST_SUMMARY}${byViews ? ', views FROM post_views, posts' : ' FROM posts'} ${where} ${orderedBy(id)}`,
    );
    const union = parts.map((part) => `SELECT * FROM (${part})`).join(' UNION ALL ');
    return this.reading<PositionedPost>(
      slow,
      parts.length === 1 ? parts[0]! : `SELECT * FROM (${union}) ${orderedBy('id')}`,
      { ...matches[0]!.parameters, ...(after && positionParameters(after)), limit },
    );
  }

  /** The number of posts that match the filter. */
  async total(filter: PostFilter): Promise<number> {
    return filter === 'none' ? 0 : this.count(filter);
  }

  /** The existing posts of the given ids, in any order. */
  findByIds(ids: readonly number[]): Promise<PostSummary[]> {
    return this.queries.all<PostSummary>(
      `SELECT ${POST_SUMMARY} FROM posts WHERE id IN (${this.queries.dialect.integersOf(':ids')})`,
      { ids: JSON.stringify(ids) },
    );
  }

  /** The newest posts of each author, at most `limit` of each after the first `offset`. */
  newestByAuthors(
    authorIds: readonly number[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<PostSummary[]> {
    const slow = offset > DEEP || authorIds.length * limit > MANY_ROWS;
    const condition = slow ? this.queries.dialect.withinDeadline : 'TRUE';
    return this.reading<PostSummary>(slow, this.sql.newestByAuthors(POST_SUMMARY, condition), {
      authors: JSON.stringify(authorIds),
      limit,
      offset,
    });
  }

  /** The contents of posts, by their ids. */
  async contentsOf(ids: readonly number[]): Promise<Map<number, string>> {
    const rows = await this.queries.all<{ id: number; content: string }>(
      `SELECT id, content FROM posts WHERE id IN (${this.queries.dialect.integersOf(':ids')})`,
      { ids: JSON.stringify(ids) },
    );
    return new Map(rows.map(({ id, content }) => [id, content]));
  }

  private completionOf(posts: readonly ListedPost[]): Completion<ListedPost> | undefined {
    if (posts.every(({ content }) => content !== null)) return undefined;
    return async (index) => {
      const post = posts[index]!;
      if (post.content !== null) return post;
      const content = (await this.contentsOf([post.id])).get(post.id);
      return content === undefined ? undefined : { ...post, content };
    };
  }

  /** The database keeps the totals of all posts, of each status and of each author; others are counted. */
  private async count(filter: Filter): Promise<number> {
    const [sql, parameters] = this.counting(filter);
    const [row] = await this.reading<{ total: number }>(readsMany(filter), sql, parameters);
    return row!.total;
  }

  private reading<Row>(slow: boolean, sql: string, parameters: StatementParameters): Promise<Row[]> {
    return slow ? this.queries.search(sql, parameters) : this.queries.all(sql, parameters);
  }

  private counting(filter: Filter): [sql: string, parameters: StatementParameters] {
    if (readsMany(filter)) {
      const { where, parameters } = this.matching(filter, { slow: true });
      return [`SELECT count(*) AS total FROM posts ${where}`, parameters];
    }
    const { authorId, status } = filter;
    const kept = 'SELECT CAST(coalesce(sum(total), 0) AS bigint) AS total FROM post_totals WHERE scope';
    if (authorId !== undefined) return [`${kept} = :scope`, { scope: `author=${authorId}` }];
    const statuses = status === undefined ? POST_STATUSES : [status];
    return [`${kept} IN (${statuses.map((name) => `'status=${name}'`).join(', ')})`, {}];
  }

  /** The condition of a filter, with the same text for all values. */
  private matching(
    { authorId, status, text }: Filter,
    { and, slow = false, many = false, byViews = false }: Matching = {},
  ) {
    const conditions = and === undefined ? [] : [and];
    if (byViews) conditions.push('posts.id = post_id');
    if (slow) conditions.push(this.queries.dialect.withinDeadline);
    const parameters: Record<string, string | number> = {};
    if (authorId !== undefined) {
      conditions.push('author_id = :authorId');
      parameters['authorId'] = authorId;
    }
    if (status !== undefined) {
      conditions.push(`${byViews ? 'post_status' : 'status'} = :status`);
      parameters['status'] = status;
    }
    if (text !== undefined) {
      const match = this.sql.containing(text);
      conditions.push(many ? match.scanning : match.condition);
      Object.assign(parameters, match.parameters);
    }
    return { where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', parameters };
  }
}

/** A post of a list, with its views if they are the order. */
type PositionedPost = PostSummary & { readonly views?: number };

/** The order of a list, for cursors. */
export const keysetOf = ({
  sortBy,
  direction,
}: Pick<SortedPosts, 'sortBy' | 'direction'>): Keyset<PositionedPost> => ({
  name: `posts by ${sortBy} ${direction}`,
  kinds: [KINDS[sortBy], 'id'],
  positionOf: (post) => [post[sortBy]!, post.id],
});

const KINDS = { created_at: 'time', title: 'text', views: 'integer' } as const;

type Filter = Exclude<PostFilter, 'none'>;

interface Matching {
  /** A condition in addition to those of the filter. */
  readonly and?: string | undefined;
  /** Whether `Queries.search` runs it. */
  readonly slow?: boolean;
  /** Whether there are many matches for each post of the page. */
  readonly many?: boolean;
  /** Whether it reads `post_views` too. */
  readonly byViews?: boolean;
}

/** Whether the count reads all matching posts, or many others. */
const readsMany = ({ authorId, status, text }: Filter): boolean =>
  text !== undefined || (authorId !== undefined && status !== undefined);

/** Whether the first pages may be slow, because no index has the posts of the filter in this order. */
const isUnordered = (filter: Filter, sortBy: ListPosts['sortBy']): boolean =>
  readsMany(filter) || (filter.authorId !== undefined && sortBy !== 'created_at');
