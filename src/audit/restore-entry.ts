import type { RestoreStatement } from '../database/statement.js';

/** Inserts the entry of a restored database. @param operator who has restored it @param now as RFC 3339 */
export const restoreEntry = (operator: string, now: string): RestoreStatement => ({
  table: 'audit_entries',
  sql: `INSERT INTO audit_entries (created_at, actor_id, action, subject, address, agent, request_id)
    VALUES ('${now}', NULL, 'command restore', 'database', '', '${operator.replaceAll("'", "''")}', '')`,
});
