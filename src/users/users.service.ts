import { Injectable } from '@nestjs/common';
import { AppError } from '../platform/http/errors/errors.js';
import { Clock } from '../platform/jobs/clock.js';
import { type ExpectedVersion, preconditionFailed } from '../platform/http/responses/expected-version.js';
import type { Page } from '../platform/http/pages/page.js';
import { DEEP, type PageRequest } from '../platform/http/pages/page-request.js';
import { isForeignKeyViolation } from '../platform/database/failures.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { Changes } from '../platform/changes/index.js';
import type { CreateUserInput, UpdateUserInput } from './user.input.js';
import { FIRST_USER_ID } from './user.entity.js';
import { USER_EVENTS } from './user.events.js';
import { INSERTED_USER_COLUMNS, toUserView, USER_ROW, type UserRow } from './user.view.js';

const INSERT = `
  INSERT INTO users (${INSERTED_USER_COLUMNS.join(', ')}) VALUES (${INSERTED_USER_COLUMNS.map((name) => `:${name}`).join(', ')})
  RETURNING ${USER_ROW}`;

/** The columns that clients write. */
const FIELDS = ['name', 'email'] as const satisfies (keyof CreateUserInput)[];

/** Any version, or the expected one. */
const AS_EXPECTED = 'version = coalesce(CAST(:version AS bigint), version)';

const selectPage = (condition: string) =>
  `SELECT ${USER_ROW} FROM users WHERE ${condition} ORDER BY id LIMIT :limit OFFSET :offset`;

/** The database keeps it: counting would read all users. */
const TOTAL = 'SELECT CAST(coalesce(sum(total), 0) AS bigint) AS total FROM user_totals';

export const HAS_POSTS = 'A user with posts cannot be deleted';
export const IS_AUTHOR = 'The author of all new posts cannot be deleted';

@Injectable()
export class UsersService {
  private readonly updateStatement: string;

  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly clock: Clock,
  ) {
    this.updateStatement = `
      UPDATE users SET ${FIELDS.map((name) => `${name} = coalesce(:${name}, ${name})`).join(', ')},
        updated_at = ${queries.dialect.forward('updated_at', ':now')}, version = version + 1
      WHERE id = :id AND ${AS_EXPECTED} RETURNING ${USER_ROW}`;
  }

  /** Users in the order of their ids. */
  async listRange({ limit, offset }: { limit: number; offset: number }): Promise<UserRow[]> {
    // Beyond all ids, and too large for the database.
    if (!Number.isSafeInteger(offset)) return [];
    const parameters = { limit, offset };
    return offset > DEEP
      ? this.queries.search<UserRow>(selectPage(this.queries.dialect.withinDeadline), parameters)
      : this.queries.all<UserRow>(selectPage('TRUE'), parameters);
  }

  /** Users in the order of their ids, and their number. */
  async list(page: PageRequest): Promise<Page<UserRow>> {
    const [kept] = await this.queries.all<{ total: number }>(TOTAL);
    const { total } = kept!;
    return page.of(page.offset < total ? await this.listRange(page) : [], total);
  }

  /** The existing users of the given ids, in any order. */
  findByIds(ids: readonly number[]): Promise<UserRow[]> {
    return this.queries.all<UserRow>(
      `SELECT ${USER_ROW} FROM users WHERE id IN (${this.queries.dialect.integersOf(':ids')})`,
      { ids: JSON.stringify(ids) },
    );
  }

  find(id: number): Promise<UserRow | undefined> {
    return this.queries.one<UserRow>(`SELECT ${USER_ROW} FROM users WHERE id = :id`, { id });
  }

  /** @throws AppError `NOT_FOUND` */
  async get(id: number): Promise<UserRow> {
    return (await this.find(id)) ?? userNotFound();
  }

  async create({ name, email }: CreateUserInput): Promise<UserRow> {
    const now = this.now();
    const parameters = { name, email: email ?? '', created_at: now, updated_at: now };
    return this.transactions.run(async () => {
      const [user] = await this.transactions.execute<UserRow>(INSERT, parameters);
      await this.changes.record(USER_EVENTS.of('created', toUserView(user!)));
      return user!;
    });
  }

  /** Sets every field; an absent e-mail becomes empty. @throws AppError as {@link update} */
  replace(id: number, { name, email }: CreateUserInput, expected?: ExpectedVersion): Promise<UserRow> {
    return this.update(id, { name, email: email ?? '' }, expected);
  }

  /** Sets the given fields. @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED` */
  async update(id: number, { name, email }: UpdateUserInput, expected?: ExpectedVersion): Promise<UserRow> {
    const version = await expected?.versionOf(() => this.get(id));
    const parameters = {
      id,
      version: version ?? null,
      name: name ?? null,
      email: email ?? null,
      now: this.now(),
    };
    return this.transactions.run(async () => {
      const [user] = await this.transactions.execute<UserRow>(this.updateStatement, parameters);
      if (!user) return this.notWritten(id, expected);
      await this.changes.record(USER_EVENTS.of('updated', toUserView(user)));
      return user;
    });
  }

  /** @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED`; `CONFLICT` for the first user and for users with posts */
  async delete(id: number, expected?: ExpectedVersion): Promise<void> {
    const version = await expected?.versionOf(() => this.get(id));
    if (id === FIRST_USER_ID) throw new AppError('CONFLICT', IS_AUTHOR);
    const sql = `DELETE FROM users WHERE id = :id AND ${AS_EXPECTED} RETURNING id`;
    const parameters = { id, version: version ?? null };
    const remove = async () => {
      const deleted = await this.transactions.execute(sql, parameters);
      if (deleted.length === 0) await this.notWritten(id, expected);
      await this.changes.record(USER_EVENTS.of('deleted', { id: String(id) }));
    };
    await this.transactions.run(remove).catch((error: unknown) => {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('CONFLICT', HAS_POSTS, { cause: error });
    });
  }

  private readonly now = (): string => this.clock.now().toISOString();

  /** The user does not exist, or has changed since its version was read. */
  private async notWritten(id: number, expected: ExpectedVersion | undefined): Promise<never> {
    if (!expected) return userNotFound();
    await this.get(id);
    throw preconditionFailed();
  }
}

function userNotFound(): never {
  throw new AppError('NOT_FOUND', 'User not found');
}
