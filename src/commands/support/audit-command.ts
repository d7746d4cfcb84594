import { userInfo } from 'node:os';
import { AuditEntry } from '../../audit/audit-entry.entity.js';
import { AuditLog } from '../../audit/audit-log.js';
import { AuditTrail, runWithTrail } from '../../common/audit/audit-trail.js';
import { Clock } from '../../common/clock/clock.js';
import type { CommandDatabase } from '../../database/command-database.js';

/** The audit log, for a command; its database has to know `AuditEntry`. */
export const auditLog = ({ source, transactions }: CommandDatabase): AuditLog =>
  new AuditLog(source.getRepository(AuditEntry), new Clock(), transactions);

/** Runs what changes accounts, and writes into the audit log who has done it: the user of the system. */
export async function auditCommand(
  database: CommandDatabase,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  const log = auditLog(database);
  const source = { address: '', agent: `user ${userName()}`, requestId: '' };
  const trail: AuditTrail = new AuditTrail(
    source,
    `command ${name}`,
    () => `account ${trail.accountId ?? ''}`.trim(),
    () => null,
  );
  await runWithTrail(trail, work);
  await log.record(trail);
}

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
