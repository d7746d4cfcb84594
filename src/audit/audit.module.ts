import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData } from '../common/retention/account-data.js';
import { Purger } from '../common/retention/purger.js';
import { Config } from '../config/config.js';
import { AuditEntry, auditExpiry, eraseSource } from './audit-entry.entity.js';
import { AuditLog } from './audit-log.js';
import { AuditedInserts } from './audited-inserts.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';

/** The audit log. No module calls it: it observes requests and their units of work. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntry])],
  controllers: [AuditController],
  providers: [AuditedInserts, AuditLog, AuditService],
})
export class AuditModule {
  constructor(purger: Purger, accountData: AccountData, { auditRetentionDays }: Config) {
    purger.register('audit_entries', auditExpiry(auditRetentionDays));
    accountData.register(eraseSource);
  }
}
