import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, type Erasure } from '../platform/access/index.js';
import { Purger } from '../platform/jobs/purger.js';
import { Config } from '../platform/config/config.js';
import { AuditEntry } from '../platform/changes/index.js';
import { AuditController } from './audit.controller.js';
import { toAuditEntryView } from './audit-entry.view.js';
import { AuditLog } from './audit-log.js';

const DAY = 24 * 3600_000;

/** Entries stay, with the id of the deleted account and without address and client. */
const eraseSource: Erasure = ({ id }, manager) =>
  manager
    .createQueryBuilder()
    .update(AuditEntry)
    .set({ address: '', agent: '' })
    .where('actor_id = :id', { id })
    .execute();

/** What staff reads of the audit log. `Changes.record` writes it. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntry])],
  controllers: [AuditController],
  providers: [AuditLog],
  exports: [AuditLog],
})
export class AuditModule {
  constructor(purger: Purger, accountData: AccountData, log: AuditLog, { auditRetentionDays }: Config) {
    purger.register('audit_entries', { column: 'created_at', lifetime: auditRetentionDays * DAY });
    accountData.register({
      onDeletion: eraseSource,
      exports: {
        audit: async function* ({ id }) {
          for await (const entries of log.entriesOf(id)) yield entries.map(toAuditEntryView);
        },
      },
    });
  }
}
