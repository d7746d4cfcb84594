import { AuditEntry } from '../../audit/audit-entry.entity.js';
import { AuditLog } from '../../audit/audit-log.js';
import { AuditTrail, runWithTrail } from '../../common/ports/audit-trail.js';
import { Clock } from '../../common/ports/clock.js';
import type { CommandDatabase } from '../../database/command-database.js';
import { operator } from './operator.js';

/** The audit log, for a command; its data source must include `AuditEntry`. */
export const auditLog = ({ source, transactions }: CommandDatabase): AuditLog =>
  new AuditLog(source.getRepository(AuditEntry), new Clock(), transactions);

/**
 * Runs a change, and records in the audit log which user of the system made it.
 *
 * @param subject of the single entry of the command; without it, the changes name their subjects, or it is an account
 */
export async function auditCommand<T>(
  database: CommandDatabase,
  name: string,
  work: () => Promise<T>,
  subject?: string,
): Promise<T> {
  const log = auditLog(database);
  const source = { address: '', agent: operator(), requestId: '' };
  const trail: AuditTrail = new AuditTrail(
    source,
    `command ${name}`,
    () => subject ?? `account ${trail.accountId ?? ''}`.trim(),
    () => null,
    subject !== undefined,
  );
  const result = await runWithTrail(trail, work);
  await log.record(trail);
  return result;
}
