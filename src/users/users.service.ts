import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AppError } from '../common/errors/errors.js';
import type { Page } from '../common/pagination/page.js';
import type { PageRequest } from '../common/pagination/page-request.js';
import { NO_ROW } from '../common/validation/id.js';
import { isStillReferenced } from '../database/failures.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import type { CreateUserInput, UpdateUserInput } from './user.input.js';
import { User } from './user.entity.js';
import { toUserRow, USER_COLUMNS, type UserRow } from './user.view.js';

/** The author of every post of the REST API, whom a fresh database has. */
const FIRST_AUTHOR_ID = 1;

@Injectable()
export class UsersService {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    @InjectRepository(User) private readonly users: Repository<User>,
  ) {}

  /** Users in the order of their ids. */
  async findAll({ limit, offset }: { limit: number; offset: number }): Promise<UserRow[]> {
    // Beyond all ids; and the database has no number for it.
    if (!Number.isSafeInteger(offset)) return [];
    return this.queries.all<UserRow>(
      `SELECT ${USER_COLUMNS} FROM users ORDER BY id LIMIT :limit OFFSET :offset`,
      { limit, offset },
    );
  }

  /** Users in the order of their ids, with how many there are. */
  async list(page: PageRequest): Promise<Page<UserRow>> {
    const counted = await this.queries.one<{ total: number }>('SELECT count(*) AS total FROM users');
    const { total } = counted!;
    return page.of(page.offset < total ? await this.findAll(page) : [], total);
  }

  /** Those of the ids that there are, in no particular order. */
  findByIds(ids: readonly number[]): Promise<UserRow[]> {
    return this.queries.all<UserRow>(
      `SELECT ${USER_COLUMNS} FROM users WHERE id IN (${this.queries.dialect.integersOf(':ids')})`,
      { ids: JSON.stringify(ids) },
    );
  }

  find(id: number): Promise<UserRow | undefined> {
    if (id === NO_ROW) return Promise.resolve(undefined);
    return this.queries.one<UserRow>(`SELECT ${USER_COLUMNS} FROM users WHERE id = :id`, { id });
  }

  /** @throws AppError `NOT_FOUND` */
  async findOne(id: number): Promise<UserRow> {
    return (await this.find(id)) ?? userNotFound();
  }

  async create({ name, email }: CreateUserInput): Promise<UserRow> {
    const now = new Date();
    const user = this.users.create({ name, email: email ?? '', createdAt: now, updatedAt: now });
    await this.users.insert(user);
    return toUserRow(user);
  }

  /** Sets every field; an absent e-mail becomes empty. @throws AppError `NOT_FOUND` */
  replace(id: number, { name, email }: CreateUserInput): Promise<UserRow> {
    return this.update(id, { name, email: email ?? '' });
  }

  /** Sets the fields that are there. @throws AppError `NOT_FOUND` */
  async update(id: number, { name, email }: UpdateUserInput): Promise<UserRow> {
    if (id === NO_ROW) return userNotFound();
    const [user] = await this.transactions.execute<UserRow>(
      `UPDATE users SET name = coalesce(:name, name), email = coalesce(:email, email),
         updated_at = ${this.queries.dialect.forward('updated_at', ':now')}
       WHERE id = :id RETURNING ${USER_COLUMNS}`,
      { id, name: name ?? null, email: email ?? null, now: new Date().toISOString() },
    );
    return user ?? userNotFound();
  }

  /** @throws AppError `NOT_FOUND`; `CONFLICT` for the first author and for users with posts */
  async delete(id: number): Promise<void> {
    if (id === NO_ROW) userNotFound();
    if (id === FIRST_AUTHOR_ID)
      throw new AppError('CONFLICT', 'The author of all new posts cannot be deleted');
    const { affected } = await this.users.delete({ id }).catch((error: unknown) => {
      if (!isStillReferenced(error)) throw error;
      throw new AppError('CONFLICT', 'A user with posts cannot be deleted', { cause: error });
    });
    if (affected === 0) userNotFound();
  }
}

function userNotFound(): never {
  throw new AppError('NOT_FOUND', 'User not found');
}
