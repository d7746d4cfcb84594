import type { Queries } from '../database/queries.js';
import type { Transactions } from '../database/transactions.js';

export interface NewUser {
  readonly name: string;
  readonly email: string;
}

/** Inserts checked users in one statement, for commands. @returns their ids, in order */
export async function insertUsers(
  { queries: { dialect }, transactions }: { queries: Queries; transactions: Transactions },
  users: readonly NewUser[],
): Promise<number[]> {
  const field = (name: string) => `"user".value ->> '${name}'`;
  const now = dialect.toTimestamp(field('now'));
  const rows = users.map((user) => ({ ...user, now: new Date() }));
  const made = await transactions.execute<{ id: number }>(
    `INSERT INTO users (name, email, created_at, updated_at)
     SELECT ${field('name')}, ${field('email')}, ${now}, ${now}
     FROM ${dialect.elementsOf(':users')} AS "user" RETURNING id`,
    { users: JSON.stringify(rows) },
  );
  return made.map(({ id }) => id).toSorted((a, b) => a - b);
}
