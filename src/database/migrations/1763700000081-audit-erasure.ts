import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isSqlite } from './column-types.js';

const KEPT = ['id', 'created_at', 'actor_id', 'action', 'subject', 'request_id'];

/** True for an update that does more than remove the address and the agent. */
const REFUSED = [
  `NEW.address <> ''`,
  `NEW.agent <> ''`,
  ...KEPT.map((column) => `NEW.${column} IS DISTINCT FROM OLD.${column}`),
].join(' OR ');

const BEFORE = 'CREATE TRIGGER audit_entries_append_only BEFORE UPDATE ON audit_entries';

/** Deleting an account removes its address and agent from the audit log; the trigger rejects any other update. */
export class AuditErasure1763700000081 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return replace(
      runner,
      isSqlite(runner)
        ? `${BEFORE} WHEN ${REFUSED} BEGIN SELECT RAISE(ABORT, 'The audit log is append-only'); END`
        : `${BEFORE} FOR EACH ROW WHEN (${REFUSED}) EXECUTE FUNCTION audit_entries_append_only()`,
    );
  }

  down(runner: QueryRunner): Promise<void> {
    return replace(
      runner,
      isSqlite(runner)
        ? `${BEFORE} BEGIN SELECT RAISE(ABORT, 'The audit log is append-only'); END`
        : `${BEFORE} FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_append_only()`,
    );
  }
}

async function replace(runner: QueryRunner, trigger: string): Promise<void> {
  const table = isSqlite(runner) ? '' : ' ON audit_entries';
  await runner.query(`DROP TRIGGER audit_entries_append_only${table}`);
  await runner.query(trigger);
}
