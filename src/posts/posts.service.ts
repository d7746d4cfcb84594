import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/errors.js';
import { encodeCursor } from '../common/pagination/cursor.js';
import { CursorPage, type Page } from '../common/pagination/page.js';
import { NO_ROW } from '../common/validation/id.js';
import type { Parameters } from '../database/parameters.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { newestByAuthors } from './by-author/by-author.js';
import { fold } from './fold.js';
import { POST_STATUSES } from './post.entity.js';
import type { CreatePostInput, UpdatePostInput } from './post.input.js';
import type { ListPosts, PostFilter, WalkPosts } from './post.query.js';
import { POST_VIEW, type PostView } from './post.view.js';
import { containing } from './search/search.js';
import { ViewCounter } from './view-counter.js';

/** The author of every post that the REST API creates: the user that a fresh database has. */
const AUTHOR_ID = 1;

/** So many times the posts up to the end of a page, and the list need hardly be walked to find them. */
const MANY = 100;

@Injectable()
export class PostsService {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly views: ViewCounter,
  ) {}

  async list({ filter, sortBy, direction, page }: ListPosts): Promise<Page<PostView>> {
    if (filter === 'none') return page.of([], 0);
    const read = (many = false) => {
      const { where, parameters } = this.matching(filter, { many });
      return this.reading<PostView>(
        filter,
        `SELECT ${POST_VIEW} FROM posts ${where}
         ORDER BY ${sortBy} ${direction}, id ${direction} LIMIT :limit OFFSET :offset`,
        { ...parameters, limit: page.limit, offset: page.offset },
      );
    };

    // The first page is asked for most, and never past the end: its total need not be known before. But how
    // to find posts by a text depends on how many there are.
    if (page.offset === 0 && filter.text === undefined) {
      const [total, posts] = await Promise.all([this.count(filter), read()]);
      return page.of(posts, total);
    }
    const total = await this.count(filter);
    const many = total > MANY * (page.offset + page.limit);
    return page.of(page.offset < total ? await read(many) : [], total);
  }

  async walk({ filter, afterId, limit }: WalkPosts): Promise<CursorPage<PostView>> {
    if (filter === 'none') return new CursorPage([], undefined, false);
    const { where, parameters } = this.matching(filter, { and: 'id > :afterId' });
    const rows = await this.reading<PostView>(
      filter,
      `SELECT ${POST_VIEW} FROM posts ${where} ORDER BY id LIMIT :limit`,
      { ...parameters, afterId, limit: limit + 1 },
    );
    const data = rows.slice(0, limit);
    const last = rows.length > limit ? data.at(-1) : undefined;
    return new CursorPage(data, last && encodeCursor(last.id), last !== undefined);
  }

  /** @param authorId whose post it has to be @throws AppError `NOT_FOUND` */
  async findOne(id: number, authorId?: number): Promise<PostView> {
    if (id === NO_ROW) throw postNotFound();
    const post = await this.queries.one<PostView>(`SELECT ${POST_VIEW} FROM posts WHERE id = :id`, { id });
    if (!post || (authorId !== undefined && post.author_id !== authorId)) throw postNotFound();
    return post;
  }

  /** The newest posts of each author, at most `limit` of each after the first `offset`. */
  newestByAuthors(
    authorIds: readonly number[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<PostView[]> {
    return this.queries.all<PostView>(newestByAuthors(this.queries), {
      authors: JSON.stringify(authorIds),
      limit,
      offset,
    });
  }

  /** Finds a post for a reader, and counts the reading. @throws AppError `NOT_FOUND` */
  async read(id: number, authorId?: number): Promise<PostView> {
    const post = await this.findOne(id, authorId);
    this.views.count(id);
    return post;
  }

  async create({ title, content, status }: CreatePostInput): Promise<PostView> {
    const [post] = await this.transactions.execute<PostView>(
      `INSERT INTO posts (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
       VALUES (:title, :content, :titleFolded, :contentFolded, :author, :status, :now, :now)
       RETURNING ${POST_VIEW}`,
      {
        title,
        content,
        titleFolded: fold(title),
        contentFolded: fold(content),
        author: AUTHOR_ID,
        status: status || 'draft',
        now: new Date().toISOString(),
      },
    );
    return post!;
  }

  /** @throws AppError `NOT_FOUND` */
  async update(id: number, { title, content, status }: UpdatePostInput): Promise<PostView> {
    if (id === NO_ROW) throw postNotFound();
    const [post] = await this.transactions.execute<PostView>(
      `UPDATE posts SET
         title = coalesce(:title, title), title_folded = coalesce(:titleFolded, title_folded),
         content = coalesce(:content, content), content_folded = coalesce(:contentFolded, content_folded),
         status = coalesce(:status, status),
         updated_at = ${this.queries.dialect.forward('updated_at', ':now')}
       WHERE id = :id RETURNING ${POST_VIEW}`,
      {
        id,
        title: title ?? null,
        titleFolded: title == null ? null : fold(title),
        content: content ?? null,
        contentFolded: content == null ? null : fold(content),
        status: status ?? null,
        now: new Date().toISOString(),
      },
    );
    if (!post) throw postNotFound();
    return post;
  }

  /** @throws AppError `NOT_FOUND` */
  async delete(id: number): Promise<void> {
    if (id === NO_ROW) throw postNotFound();
    const deleted = await this.transactions.execute('DELETE FROM posts WHERE id = :id RETURNING id', { id });
    if (deleted.length === 0) throw postNotFound();
  }

  /** The database keeps the totals of all posts, of each status and of each author; all else is counted. */
  private async count(filter: Filter): Promise<number> {
    const [sql, parameters] = this.counting(filter);
    const [row] = await this.reading<{ total: number }>(filter, sql, parameters);
    return row!.total;
  }

  private reading<Row>({ text }: Filter, sql: string, parameters: Parameters): Promise<Row[]> {
    return text === undefined ? this.queries.all(sql, parameters) : this.queries.search(sql, parameters);
  }

  private counting(filter: Filter): [sql: string, parameters: Parameters] {
    const { authorId, status, text } = filter;
    if (text !== undefined || (authorId !== undefined && status !== undefined)) {
      const { where, parameters } = this.matching(filter);
      return [`SELECT count(*) AS total FROM posts ${where}`, parameters];
    }
    const kept = 'SELECT CAST(coalesce(sum(total), 0) AS bigint) AS total FROM post_totals WHERE scope';
    if (authorId !== undefined) return [`${kept} = :scope`, { scope: `author=${authorId}` }];
    const statuses = status === undefined ? POST_STATUSES : [status];
    return [`${kept} IN (${statuses.map((name) => `'status=${name}'`).join(', ')})`, {}];
  }

  /** The condition of a filter, as text that is the same for every value of it. */
  private matching(
    { authorId, status, text }: Filter,
    { and, many = false }: { and?: string; many?: boolean } = {},
  ) {
    const conditions = and === undefined ? [] : [and];
    const parameters: Record<string, string | number> = {};
    if (authorId !== undefined) {
      conditions.push('author_id = :authorId');
      parameters['authorId'] = authorId;
    }
    if (status !== undefined) {
      conditions.push('status = :status');
      parameters['status'] = status;
    }
    if (text !== undefined) {
      const match = containing(text, this.queries);
      conditions.push(many ? match.walking : match.condition);
      Object.assign(parameters, match.parameters);
    }
    return { where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', parameters };
  }
}

type Filter = Exclude<PostFilter, 'none'>;

const postNotFound = () => new AppError('NOT_FOUND', 'Post not found');
