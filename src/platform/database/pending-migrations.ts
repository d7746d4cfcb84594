import { DatabaseError, isMissingTable, tableLost } from './failures.js';
import { migrations } from './migrations/index.js';

/** The first migration of the versions before the first release. */
const BEFORE_RELEASE = 'Users1763700000000';

/**
 * The migrations of this build that have not run.
 *
 * @param tables those that the database has had
 * @throws DatabaseError when the database is of a version before the first release
 */
export async function pendingMigrations(
  query: (sql: string) => Promise<readonly { readonly name: string }[]>,
  tables: ReadonlySet<string> = new Set(),
): Promise<typeof migrations> {
  const ran = await query('SELECT name FROM migrations').catch((error: unknown) => {
    if (!isMissingTable(error)) throw error;
    if (tables.has('migrations')) throw tableLost('migrations', error);
    return [];
  });
  const names = new Set(ran.map(({ name }) => name));
  if (names.has(BEFORE_RELEASE)) {
    throw new DatabaseError(
      'The database is of a version before the first release, from which no migration leads to this one; use a new database',
    );
  }
  return migrations.filter(({ name }) => !names.has(name));
}
