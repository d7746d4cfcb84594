import type { Queries } from '../platform/database/queries.js';
import type { Transactions } from '../platform/database/transactions.js';
import { INSERTED_USER_COLUMNS } from './user.view.js';

export interface NewUser {
  readonly name: string;
  readonly email: string;
}

/** Inserts checked users in one statement, for commands. @returns their ids, in order */
export async function insertUsers(
  { queries: { dialect }, transactions }: { queries: Queries; transactions: Transactions },
  users: readonly NewUser[],
  now: Date,
): Promise<number[]> {
  const columns = INSERTED_USER_COLUMNS.join(', ');
  const inserted = await transactions.execute<{ id: number }>(
    `INSERT INTO users (${columns})
     SELECT ${columns} FROM ${dialect.recordsOf('users', INSERTED_USER_COLUMNS, ':users')} AS sent
     ORDER BY sent.place RETURNING id`,
    { users: JSON.stringify(users.map((user) => ({ ...user, created_at: now, updated_at: now }))) },
  );
  return inserted.map(({ id }) => id).toSorted((a, b) => a - b);
}
