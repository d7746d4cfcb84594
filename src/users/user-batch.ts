import type { EntityManager } from 'typeorm';
import { columnTypes, isSqlite } from '../database/migrations/column-types.js';

export interface NewUser {
  readonly name: string;
  readonly email: string;
}

/** Inserts checked users in one statement, for commands. @returns their ids, in their order */
export async function insertUsers(manager: EntityManager, users: readonly NewUser[]): Promise<number[]> {
  const runner = manager.queryRunner!;
  const { timestamp } = columnTypes(runner);
  const from = isSqlite(runner) ? 'json_each(?)' : 'json_array_elements($1::json)';
  const field = (name: string) => `"user".value ->> '${name}'`;
  const now = `CAST(${field('now')} AS ${timestamp})`;
  const rows = users.map((user) => ({ ...user, now: new Date() }));
  const made: { id: number | string }[] = await runner.query(
    `INSERT INTO users (name, email, created_at, updated_at)
     SELECT ${field('name')}, ${field('email')}, ${now}, ${now} FROM ${from} AS "user" RETURNING id`,
    [JSON.stringify(rows)],
  );
  return made.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
}
