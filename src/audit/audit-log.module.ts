import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData } from '../platform/jobs/account-data.js';
import { Purger } from '../platform/jobs/purger.js';
import { Config } from '../platform/config/config.js';
import { AuditEntry, auditExpiry, eraseSource } from './audit-entry.entity.js';
import { toAuditEntryView } from './audit-entry.view.js';
import { AuditLog } from './audit-log.js';

/** What the audit log stores. Commands use it. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntry])],
  providers: [AuditLog],
  exports: [AuditLog],
})
export class AuditLogModule {
  constructor(purger: Purger, accountData: AccountData, log: AuditLog, { auditRetentionDays }: Config) {
    purger.register('audit_entries', auditExpiry(auditRetentionDays));
    accountData.register(eraseSource);
    accountData.registerExport('audit', async function* ({ id }) {
      for await (const entries of log.entriesOf(id)) yield entries.map(toAuditEntryView);
    });
  }
}
