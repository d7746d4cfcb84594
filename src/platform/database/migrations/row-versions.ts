import type { QueryRunner } from 'typeorm';
import { isSqlite } from './column-types.js';

/**
 * Creates a trigger that increments `version` when a write does not: an upsert, SQL text, or a manual change. TypeORM
 * increments it. SQL text with `RETURNING version` must do so too, because on SQLite `RETURNING` does not see the
 * change of the trigger. The table has the column `version integer NOT NULL DEFAULT 1`.
 *
 * @param except a column whose changes do not increment the version
 */
export async function growVersions(runner: QueryRunner, table: string, except?: string): Promise<void> {
  const counts = except === undefined ? '' : `AND new.${except} = old.${except}`;
  const trigger = `CREATE TRIGGER ${table}_version`;
  const when = `FOR EACH ROW WHEN (new.version <= old.version ${counts})`;
  if (isSqlite(runner)) {
    await runner.query(`${trigger} AFTER UPDATE ON ${table} ${when}
      BEGIN UPDATE ${table} SET version = old.version + 1 WHERE id = new.id; END`);
    return;
  }
  await runner.query(`CREATE OR REPLACE FUNCTION grow_version() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN new.version := old.version + 1; RETURN new; END $$`);
  await runner.query(`${trigger} BEFORE UPDATE ON ${table} ${when} EXECUTE FUNCTION grow_version()`);
}
