import { Module } from '@nestjs/common';
import { AuditLogModule } from './audit-log.module.js';
import { AuditController } from './audit.controller.js';

/** What staff reads of the audit log. `Changes.record` writes it. */
@Module({
  imports: [AuditLogModule],
  controllers: [AuditController],
})
export class AuditModule {}
