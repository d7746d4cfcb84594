import type { DataSource } from 'typeorm';
import { isMissingTable, tableLost } from './failures.js';
import { checksumOf } from './migrations/checksums.js';
import { migrations } from './migrations/index.js';

/** The checksum of each migration when it ran. TypeORM's own table has no column for it. */
export const CHECKSUMS_TABLE = 'migration_checksums';

/**
 * Stores the checksums of the migrations that have just run, and of those that ran before checksums existed.
 *
 * @param accept whether to accept those that have changed, too
 */
export async function rememberChecksums(
  source: DataSource,
  ran: readonly string[],
  { accept = false } = {},
): Promise<void> {
  const all: { name: string }[] = await source.query('SELECT name FROM migrations');
  const known = await rememberedNames(source);
  const kept = new Set(accept ? [] : known);
  for (const name of ran) kept.delete(name);
  for (const { name } of all.filter((row) => !kept.has(row.name))) {
    const checksum = checksumOf(name);
    // A migration of another build.
    if (checksum === undefined) continue;
    await source
      .createQueryBuilder()
      .insert()
      .into(CHECKSUMS_TABLE, ['name', 'checksum'])
      .values({ name, checksum })
      .orUpdate(['checksum'], ['name'])
      .execute();
  }
}

/** Creates the table if it is missing. Otherwise nothing is written, because the database may be read-only. */
async function rememberedNames(source: DataSource): Promise<string[]> {
  try {
    const rows: { name: string }[] = await source.query(`SELECT name FROM ${CHECKSUMS_TABLE}`);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (!isMissingTable(error)) throw error;
    await source.query(
      `CREATE TABLE ${CHECKSUMS_TABLE} (name varchar PRIMARY KEY, checksum varchar NOT NULL)`,
    );
    return [];
  }
}

/** The names of the migrations that were changed after they ran. */
export const changedMigrations = (
  remembered: readonly { readonly name: string; readonly checksum: string }[],
): string[] =>
  remembered
    .filter(({ name, checksum }) => (checksumOf(name) ?? checksum) !== checksum)
    .map(({ name }) => name);

/**
 * The migrations of this build that have not run.
 *
 * @param tables those that the database has had
 */
export async function pendingMigrations(
  query: (sql: string) => Promise<readonly { readonly name: string }[]>,
  tables: ReadonlySet<string> = new Set(),
): Promise<typeof migrations> {
  const ran = await query('SELECT name FROM migrations').catch((error: unknown) => {
    if (tables.has('migrations') && isMissingTable(error)) throw tableLost('migrations', error);
    return noneWithoutTable(error);
  });
  const names = new Set(ran.map(({ name }) => name));
  return migrations.filter(({ name }) => !names.has(name));
}

/** For the error of a query: no rows, if its table is missing. */
export const noneWithoutTable = (error: unknown): never[] => {
  if (isMissingTable(error)) return [];
  throw error;
};
