import { Injectable } from '@nestjs/common';
import { type IfMatch, preconditionFailed } from '../common/responses/if-match.js';
import { AppError } from '../common/errors/errors.js';
import { NO_ROW } from '../common/validation/id.js';
import { Queries } from '../database/queries.js';
import { type Statement, Transactions } from '../database/transactions.js';
import { EventOutbox } from '../events/index.js';
import { caseFold } from './case-fold.js';
import type { PostStatus } from './post.entity.js';
import { changeOf, POST_EVENTS } from './post.events.js';
import type { CreatePostInput, UpdatePostInput } from './post.input.js';
import { POST_ROW, type PostRow, toPostView } from './post.view.js';
import { ViewCounter } from './view-counter.js';

/** The author of every post that the REST API creates: the user that exists in a new database. */
const AUTHOR_ID = 1;

/** Any version, or that of the precondition. */
const AS_EXPECTED = 'version = coalesce(CAST(:version AS bigint), version)';

const INSERT = `
  INSERT INTO posts (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
  VALUES (:title, :content, :titleFolded, :contentFolded, :author, :status, :now, :now)
  RETURNING ${POST_ROW}`;

const toDeleted = ({ id }: { id: number }) => ({ id });

@Injectable()
export class PostsService {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly views: ViewCounter,
    private readonly events: EventOutbox,
  ) {}

  /** @param authorId the required author @throws AppError `NOT_FOUND` */
  async findOne(id: number, authorId?: number): Promise<PostRow> {
    if (id === NO_ROW) throw postNotFound();
    const post = await this.queries.onReplica(() =>
      this.queries.one<PostRow>(`SELECT ${POST_ROW} FROM posts WHERE id = :id`, { id }),
    );
    if (!post || (authorId !== undefined && post.author_id !== authorId)) throw postNotFound();
    return post;
  }

  /** Finds a post for a reader, and counts the view. @throws AppError `NOT_FOUND` */
  async read(id: number, authorId?: number): Promise<PostRow> {
    const post = await this.findOne(id, authorId);
    this.views.count(id);
    return post;
  }

  async create({ title, content, status }: CreatePostInput): Promise<PostRow> {
    const parameters = {
      title,
      content,
      titleFolded: caseFold(title),
      contentFolded: caseFold(content),
      author: AUTHOR_ID,
      status: status || 'draft',
      now: new Date().toISOString(),
    };
    const [post] = await this.events.change(POST_EVENTS, 'created', { sql: INSERT, parameters }, toPostView);
    return post!;
  }

  /** @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED` */
  async update(id: number, { title, content, status }: UpdatePostInput, ifMatch?: IfMatch): Promise<PostRow> {
    if (id === NO_ROW) throw postNotFound();
    const version = await ifMatch?.versionOf(() => this.findOne(id));
    const sql = `UPDATE posts SET
         title = coalesce(:title, title), title_folded = coalesce(:titleFolded, title_folded),
         content = coalesce(:content, content), content_folded = coalesce(:contentFolded, content_folded),
         status = coalesce(:status, status),
         updated_at = ${this.queries.dialect.forward('updated_at', ':now')}, version = version + 1
       WHERE id = :id AND ${AS_EXPECTED} RETURNING ${POST_ROW}`;
    const parameters = {
      id,
      version: version ?? null,
      title: title ?? null,
      titleFolded: title == null ? null : caseFold(title),
      content: content ?? null,
      contentFolded: content == null ? null : caseFold(content),
      status: status ?? null,
      now: new Date().toISOString(),
    };
    const post = await this.write(id, { sql, parameters }, status);
    return post ?? this.notWritten(id, ifMatch);
  }

  /** @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED` */
  async delete(id: number, ifMatch?: IfMatch): Promise<void> {
    if (id === NO_ROW) throw postNotFound();
    const version = await ifMatch?.versionOf(() => this.findOne(id));
    const sql = `DELETE FROM posts WHERE id = :id AND ${AS_EXPECTED} RETURNING id`;
    const parameters = { id, version: version ?? null };
    const deleted = await this.events.change(POST_EVENTS, 'deleted', { sql, parameters }, toDeleted);
    if (deleted.length === 0) await this.notWritten(id, ifMatch);
  }

  /** Runs an update. Only if it may change the status, its event depends on the former row. */
  private write(id: number, statement: Statement, status?: PostStatus | null): Promise<PostRow | undefined> {
    const run = async (change: ReturnType<typeof changeOf>) => {
      const [post] = await this.events.change(POST_EVENTS, change, statement, toPostView);
      return post;
    };
    if (status == null) return run('updated');
    return this.transactions.run(async () => {
      const before = await this.queries.one<{ status: PostStatus }>(
        `SELECT status FROM posts WHERE id = :id ${this.queries.dialect.lockRowsForUpdate}`,
        { id },
      );
      if (!before) throw postNotFound();
      return run(changeOf(before.status, status));
    });
  }

  /** The post does not exist, or was changed after its version was read. */
  private async notWritten(id: number, ifMatch: IfMatch | undefined): Promise<never> {
    if (!ifMatch) throw postNotFound();
    await this.findOne(id);
    throw preconditionFailed();
  }
}

const postNotFound = () => new AppError('NOT_FOUND', 'Post not found');
