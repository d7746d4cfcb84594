import { DatabaseError } from '../database/failures.js';
import type { Queries } from '../database/queries.js';
import type { Transactions } from '../database/transactions.js';
import type { EventOutbox } from '../events/index.js';
import { USER_EVENTS } from './user.events.js';
import { FIRST_USER_ID } from './user.entity.js';
import {
  INSERTED_COLUMNS,
  toUserView,
  USER_COLUMNS,
  USER_ROW,
  type UserRow,
  type UserView,
} from './user.view.js';

export interface NewUser {
  readonly name: string;
  readonly email: string;
}

/** A user with its id and times, as the API returns it. */
export type StoredUser = Omit<UserView, 'id'> & { readonly id: number };

/** Inserts checked users with their ids, for commands; the first user exists, and is replaced. */
export async function restoreUsers(
  { queries: { dialect }, transactions }: { queries: Queries; transactions: Transactions },
  users: readonly StoredUser[],
  events: EventOutbox,
): Promise<void> {
  const columns = Object.keys(USER_COLUMNS);
  const restored = await transactions.execute<UserRow>(
    `INSERT INTO users (${columns.join(', ')})
     SELECT ${columns.join(', ')} FROM ${dialect.recordsOf('users', columns, ':users')} AS sent WHERE TRUE
     ON CONFLICT (id) DO UPDATE SET ${INSERTED_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')},
       version = users.version + 1
       WHERE users.id = ${FIRST_USER_ID}
     RETURNING ${USER_ROW}`,
    { users: JSON.stringify(users) },
  );
  if (restored.length < users.length)
    throw new DatabaseError(
      'Users were created during the import: stop the service, and use an empty database',
    );
  const created = restored.toSorted((a, b) => a.id - b.id).map(toUserView);
  await events.record(...created.map((user) => USER_EVENTS.of('created', user)));
}

/** Inserts checked users in one statement, for commands. @returns their ids, in order */
export async function insertUsers(
  { queries: { dialect }, transactions }: { queries: Queries; transactions: Transactions },
  users: readonly NewUser[],
  now: Date,
): Promise<number[]> {
  const columns = INSERTED_COLUMNS.join(', ');
  const inserted = await transactions.execute<{ id: number }>(
    `INSERT INTO users (${columns})
     SELECT ${columns} FROM ${dialect.recordsOf('users', INSERTED_COLUMNS, ':users')} AS sent
     ORDER BY sent.place RETURNING id`,
    { users: JSON.stringify(users.map((user) => ({ ...user, created_at: now, updated_at: now }))) },
  );
  return inserted.map(({ id }) => id).toSorted((a, b) => a - b);
}
