import type { INestApplicationContext } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { AuditTrail, runWithTrail } from '../../platform/http/audit-trail.js';
import { operator } from './operator.js';

/**
 * Runs a change, and records in the audit log which user of the system made it; needs `AuditLogModule`.
 *
 * @param subject of the single entry of the command; without it, the changes name their subjects, or it is an account
 */
export async function auditCommand<T>(
  context: INestApplicationContext,
  name: string,
  work: () => Promise<T>,
  subject?: string,
): Promise<T> {
  const log = context.get(AuditLog, { strict: false });
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
