import { Module } from '@nestjs/common';
import { AuditLogModule } from './audit-log.module.js';
import { AuditedInserts } from './audited-inserts.js';
import { AuditController } from './audit.controller.js';

/** The audit log. No module calls it: it observes requests and their units of work. */
@Module({
  imports: [AuditLogModule],
  controllers: [AuditController],
  providers: [AuditedInserts],
})
export class AuditModule {}
