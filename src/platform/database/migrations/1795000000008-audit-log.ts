import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes, isSqlite } from './column-types.js';

const MESSAGE = 'The audit log is append-only';

const KEPT = ['id', 'created_at', 'actor_id', 'action', 'subject', 'request_id'];

/** True for an update that does more than remove the address and the agent, as the deletion of an account does. */
const CHANGES = [
  `NEW.address <> ''`,
  `NEW.agent <> ''`,
  ...KEPT.map((column) => `NEW.${column} IS DISTINCT FROM OLD.${column}`),
].join(' OR ');

/** One hour less than the shortest retention: the clock of the purge may be ahead of the clock of the database. */
const HOURS = 23;

const UPDATED = 'CREATE TRIGGER audit_entries_append_only BEFORE UPDATE ON audit_entries';
const DELETED = 'CREATE TRIGGER audit_entries_kept BEFORE DELETE ON audit_entries';

const SQLITE = [
  `${UPDATED} WHEN ${CHANGES} BEGIN SELECT RAISE(ABORT, '${MESSAGE}'); END`,
  `${DELETED} WHEN OLD.created_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-${HOURS} hours')
   BEGIN SELECT RAISE(ABORT, '${MESSAGE}'); END`,
];

const POSTGRES = [
  `CREATE FUNCTION audit_entries_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN RAISE EXCEPTION '${MESSAGE}'; END $$`,
  `${UPDATED} FOR EACH ROW WHEN (${CHANGES}) EXECUTE FUNCTION audit_entries_append_only()`,
  `${DELETED} FOR EACH ROW WHEN (OLD.created_at > now() - interval '${HOURS} hours')
   EXECUTE FUNCTION audit_entries_append_only()`,
  `CREATE TRIGGER audit_entries_not_truncated BEFORE TRUNCATE ON audit_entries
   FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_append_only()`,
];

/** The audit log: who changed what, when, and from where. Triggers keep it as it is; the purge deletes old entries. */
export class AuditLog1795000000008 implements MigrationInterface {
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
