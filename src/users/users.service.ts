import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AppError } from '../common/errors/errors.js';
import { type IfMatch, preconditionFailed } from '../common/responses/if-match.js';
import type { Page } from '../common/pagination/page.js';
import { DEEP, type PageRequest } from '../common/pagination/page-request.js';
import { NO_ROW } from '../common/validation/id.js';
import { isForeignKeyViolation } from '../database/failures.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { EventOutbox } from '../events/index.js';
import type { CreateUserInput, UpdateUserInput } from './user.input.js';
import { User } from './user.entity.js';
import { USER_EVENTS } from './user.events.js';
import { toUserRow, toViewV2, USER_COLUMNS, type UserRow, XML_TAG } from './user.view.js';

/** The author of every post of the REST API; a new database contains this user. */
const FIRST_AUTHOR_ID = 1;

const selectPage = (condition: string) =>
  `SELECT ${USER_COLUMNS} FROM users WHERE ${condition} ORDER BY id LIMIT :limit OFFSET :offset`;

export const HAS_POSTS = 'A user with posts cannot be deleted';
export const IS_AUTHOR = 'The author of all new posts cannot be deleted';

@Injectable()
export class UsersService {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly events: EventOutbox,
  ) {}

  /** Users in the order of their ids. */
  async findAll({ limit, offset }: { limit: number; offset: number }): Promise<UserRow[]> {
    // Beyond all ids, and too large for the database.
    if (!Number.isSafeInteger(offset)) return [];
    const parameters = { limit, offset };
    return this.queries.onReplica(() =>
      offset > DEEP
        ? this.queries.search<UserRow>(selectPage(this.queries.dialect.withinDeadline), parameters)
        : this.queries.short<UserRow>(selectPage('TRUE'), parameters),
    );
  }

  /** Users in the order of their ids, and their number. */
  async list(page: PageRequest): Promise<Page<UserRow>> {
    // Reads the ids of all users.
    const [counted] = await this.queries.onReplica(() =>
      this.queries.search<{ total: number }>(
        `SELECT count(*) AS total FROM users WHERE ${this.queries.dialect.withinDeadline}`,
      ),
    );
    const { total } = counted!;
    return page.of(page.offset < total ? await this.findAll(page) : [], total);
  }

  /** The existing users of the given ids, in any order. */
  findByIds(ids: readonly number[]): Promise<UserRow[]> {
    return this.queries.onReplica(() =>
      this.queries.short<UserRow>(
        `SELECT ${USER_COLUMNS} FROM users WHERE id IN (${this.queries.dialect.integersOf(':ids')})`,
        { ids: JSON.stringify(ids) },
      ),
    );
  }

  find(id: number): Promise<UserRow | undefined> {
    if (id === NO_ROW) return Promise.resolve(undefined);
    return this.queries.onReplica(() =>
      this.queries.one<UserRow>(`SELECT ${USER_COLUMNS} FROM users WHERE id = :id`, { id }),
    );
  }

  /** @throws AppError `NOT_FOUND` */
  async findOne(id: number): Promise<UserRow> {
    return (await this.find(id)) ?? userNotFound();
  }

  async create({ name, email }: CreateUserInput): Promise<UserRow> {
    const now = new Date();
    return this.transactions.run(async () => {
      const user = this.users.create({ name, email: email ?? '', createdAt: now, updatedAt: now });
      await this.users.insert(user);
      const row = toUserRow(user);
      await this.events.record(USER_EVENTS.of('created', toViewV2(row)));
      return row;
    });
  }

  /** Sets every field; an absent e-mail becomes empty. @throws AppError as {@link update} */
  replace(id: number, { name, email }: CreateUserInput, ifMatch?: IfMatch): Promise<UserRow> {
    return this.update(id, { name, email: email ?? '' }, ifMatch);
  }

  /** Sets the given fields. @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED` */
  async update(id: number, { name, email }: UpdateUserInput, ifMatch?: IfMatch): Promise<UserRow> {
    if (id === NO_ROW) return userNotFound();
    const version = await this.expectedVersion(id, ifMatch);
    const sql = `UPDATE users SET name = coalesce(:name, name), email = coalesce(:email, email),
         updated_at = ${this.queries.dialect.forward('updated_at', ':now')}, version = version + 1
       WHERE id = :id AND version = coalesce(CAST(:version AS bigint), version) RETURNING ${USER_COLUMNS}`;
    const parameters = {
      id,
      version: version ?? null,
      name: name ?? null,
      email: email ?? null,
      now: new Date().toISOString(),
    };
    const [user] = await this.events.change(USER_EVENTS, 'updated', { sql, parameters }, toViewV2);
    return user ?? this.notWritten(id, ifMatch);
  }

  /** @throws AppError `NOT_FOUND`, `PRECONDITION_FAILED`; `CONFLICT` for the first author and for users with posts */
  async delete(id: number, ifMatch?: IfMatch): Promise<void> {
    if (id === NO_ROW) userNotFound();
    const version = await this.expectedVersion(id, ifMatch);
    if (id === FIRST_AUTHOR_ID) throw new AppError('CONFLICT', IS_AUTHOR);
    const remove = async () => {
      const { affected } = await this.users.delete({ id, ...(version !== undefined && { version }) });
      if (affected === 0) await this.notWritten(id, ifMatch);
      await this.events.record(USER_EVENTS.of('deleted', { id: String(id) }));
    };
    await this.transactions.run(remove).catch((error: unknown) => {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('CONFLICT', HAS_POSTS, { cause: error });
    });
  }

  private async expectedVersion(id: number, ifMatch: IfMatch | undefined): Promise<number | undefined> {
    return ifMatch?.versionOf(() => this.findOne(id), ['', XML_TAG]);
  }

  /** The user does not exist, or has changed since its version was read. */
  private async notWritten(id: number, ifMatch: IfMatch | undefined): Promise<never> {
    if (!ifMatch) return userNotFound();
    await this.findOne(id);
    throw preconditionFailed();
  }
}

function userNotFound(): never {
  throw new AppError('NOT_FOUND', 'User not found');
}
