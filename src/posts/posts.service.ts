import { Injectable } from '@nestjs/common';
import { AppError } from '../platform/http/errors/errors.js';
import { Clock } from '../platform/jobs/clock.js';
import { type ExpectedVersion, preconditionFailed } from '../platform/http/responses/expected-version.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { Changes } from '../platform/changes/index.js';
import { FIRST_USER_ID } from '../users/user.entity.js';
import type { PostStatus } from './post.entity.js';
import { changeOf, POST_EVENTS } from './post.events.js';
import type { CreatePostInput, UpdatePostInput } from './post.input.js';
import { INSERTED_POST_COLUMNS, UPDATED_COLUMNS, valuesOf } from './post.statements.js';
import { POST_ROW, type PostRow, toPostView } from './post.view.js';
import { ViewCounter } from './view-counter.js';

/** Any version, or that of the precondition. */
const AS_EXPECTED = 'version = coalesce(CAST(:version AS bigint), version)';

const FIND = `SELECT ${POST_ROW} FROM posts WHERE id = :id`;

const INSERT = `
  INSERT INTO posts (${INSERTED_POST_COLUMNS.join(', ')}) VALUES (${INSERTED_POST_COLUMNS.map((name) => `:${name}`).join(', ')})
  RETURNING ${POST_ROW}`;

@Injectable()
export class PostsService {
  private readonly updateStatement: string;

  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly views: ViewCounter,
    private readonly changes: Changes,
    private readonly clock: Clock,
  ) {
    this.updateStatement = `
      UPDATE posts SET ${UPDATED_COLUMNS.map((name) => `${name} = coalesce(:${name}, ${name})`).join(', ')},
        updated_at = ${queries.dialect.forward('updated_at', ':now')}, version = version + 1
      WHERE id = :id AND ${AS_EXPECTED} RETURNING ${POST_ROW}`;
  }

  /** @param authorId the required author @throws AppError `NOT_FOUND` */
  async get(id: number, authorId?: number): Promise<PostRow> {
    const post = await this.queries.one<PostRow>(FIND, { id });
    if (!post || (authorId !== undefined && post.author_id !== authorId)) throw postNotFound();
    return post;
  }

  /** Finds a post for a reader, and counts the view. @throws AppError `NOT_FOUND` */
  async read(id: number, authorId?: number): Promise<PostRow> {
    const post = await this.get(id, authorId);
    this.views.count(id);
    return post;
  }

  async create(input: CreatePostInput): Promise<PostRow> {
    const now = this.clock.now().toISOString();
    const parameters = {
      ...valuesOf(input),
      status: input.status || 'draft',
      author_id: FIRST_USER_ID,
      created_at: now,
      updated_at: now,
    };
    return this.transactions.run(async () => {
      const [post] = await this.transactions.execute<PostRow>(INSERT, parameters);
      await this.changes.record(POST_EVENTS.of('created', toPostView(post!)));
      return post!;
    });
  }

  /** @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED` */
  async update(id: number, input: UpdatePostInput, expected?: ExpectedVersion): Promise<PostRow> {
    const version = await expected?.versionOf(() => this.get(id));
    const now = this.clock.now().toISOString();
    const parameters = { ...valuesOf(input), id, version: version ?? null, now };
    return this.transactions.run(async () => {
      const change = await this.changeBy(id, input);
      const [post] = await this.transactions.execute<PostRow>(this.updateStatement, parameters);
      if (!post) return this.notWritten(id, expected);
      await this.changes.record(POST_EVENTS.of(change, toPostView(post)));
      return post;
    });
  }

  /** @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED` */
  async delete(id: number, expected?: ExpectedVersion): Promise<void> {
    const version = await expected?.versionOf(() => this.get(id));
    const sql = `DELETE FROM posts WHERE id = :id AND ${AS_EXPECTED} RETURNING id`;
    const parameters = { id, version: version ?? null };
    await this.transactions.run(async () => {
      const deleted = await this.transactions.execute(sql, parameters);
      if (deleted.length === 0) await this.notWritten(id, expected);
      await this.changes.record(POST_EVENTS.of('deleted', { id }));
    });
  }

  /** What an update includes. Only if it may change the status, that depends on the former row. */
  private async changeBy(id: number, { status }: UpdatePostInput): Promise<ReturnType<typeof changeOf>> {
    if (status == null) return 'updated';
    const before = await this.queries.one<{ status: PostStatus }>(
      `SELECT status FROM posts WHERE id = :id ${this.queries.dialect.lockRowsForUpdate}`,
      { id },
    );
    if (!before) throw postNotFound();
    return changeOf(before.status, status);
  }

  /** The post does not exist, or was changed after its version was read. */
  private async notWritten(id: number, expected: ExpectedVersion | undefined): Promise<never> {
    if (!expected) throw postNotFound();
    await this.get(id);
    throw preconditionFailed();
  }
}

const postNotFound = () => new AppError('NOT_FOUND', 'Post not found');
