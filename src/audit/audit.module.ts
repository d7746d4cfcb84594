import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Purger } from '../platform/jobs/purger.js';
import { Config } from '../platform/config/config.js';
import { AuditEntry } from '../platform/changes/index.js';
import { AuditController } from './audit.controller.js';
import { AuditLog } from './audit-log.js';

const DAY = 24 * 3600_000;

/** What staff reads of the audit log. `Changes.record` writes it. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntry])],
  controllers: [AuditController],
  providers: [AuditLog],
  exports: [AuditLog],
})
export class AuditModule {
  constructor(purger: Purger, { auditRetentionDays }: Config) {
    purger.register('audit_entries', { column: 'created_at', lifetime: auditRetentionDays * DAY });
  }
}
