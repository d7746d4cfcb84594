import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

const MESSAGE = 'The audit log is append-only';

const SQLITE = [
  `CREATE TRIGGER audit_entries_append_only BEFORE UPDATE ON audit_entries
   BEGIN SELECT RAISE(ABORT, '${MESSAGE}'); END`,
];

const POSTGRES = [
  `CREATE FUNCTION audit_entries_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN RAISE EXCEPTION '${MESSAGE}'; END $$`,
  `CREATE TRIGGER audit_entries_append_only BEFORE UPDATE ON audit_entries
   FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_append_only()`,
];

/** The audit log: who changed what, when, and from where. */
export class AuditLog1763700000080 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text, timestamp } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE audit_entries (
        "id" ${id},
        created_at ${timestamp} NOT NULL,
        actor_id ${integer},
        action ${text} NOT NULL,
        subject ${text} NOT NULL,
        address ${text} NOT NULL,
        agent ${text} NOT NULL,
        request_id ${text} NOT NULL
      )`);
    await runner.query('CREATE INDEX audit_entries_created_at ON audit_entries (created_at)');
    await runner.query('CREATE INDEX audit_entries_actor_id ON audit_entries (actor_id, id)');
    await runner.query('CREATE INDEX audit_entries_subject ON audit_entries (subject, id)');
    for (const statement of isSqlite(runner) ? SQLITE : POSTGRES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_entries');
    if (!isSqlite(runner)) await runner.query('DROP FUNCTION audit_entries_append_only');
  }
}
