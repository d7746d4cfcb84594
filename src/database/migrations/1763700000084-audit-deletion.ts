import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isSqlite } from './column-types.js';

/** One hour less than the shortest retention: the clock of the purge may be ahead of the clock of the database. */
const HOURS = 23;

const SQLITE = [
  `CREATE TRIGGER audit_entries_kept BEFORE DELETE ON audit_entries
   WHEN OLD.created_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-${HOURS} hours')
   BEGIN SELECT RAISE(ABORT, 'The audit log is append-only'); END`,
];

const POSTGRES = [
  `CREATE TRIGGER audit_entries_kept BEFORE DELETE ON audit_entries FOR EACH ROW
   WHEN (OLD.created_at > now() - interval '${HOURS} hours')
   EXECUTE FUNCTION audit_entries_append_only()`,
  `CREATE TRIGGER audit_entries_not_truncated BEFORE TRUNCATE ON audit_entries
   FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_append_only()`,
];

/** Rejects the deletion of recent entries; the purge deletes only older ones. */
export class AuditDeletion1763700000084 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of isSqlite(runner) ? SQLITE : POSTGRES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    if (isSqlite(runner)) {
      await runner.query('DROP TRIGGER audit_entries_kept');
      return;
    }
    await runner.query('DROP TRIGGER audit_entries_not_truncated ON audit_entries');
    await runner.query('DROP TRIGGER audit_entries_kept ON audit_entries');
  }
}
