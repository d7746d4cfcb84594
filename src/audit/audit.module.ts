import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyInstance } from 'fastify';
import { Purger } from '../common/purge/purger.js';
import { Config } from '../config/config.js';
import { AuditEntry, auditExpiry } from './audit-entry.entity.js';
import { AuditLog } from './audit-log.js';
import { AuditedInserts } from './audited-inserts.js';
import { auditRequests } from './audit-requests.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';

/** The audit log. No module calls it: it observes requests and their units of work. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntry])],
  controllers: [AuditController],
  providers: [AuditedInserts, AuditLog, AuditService],
})
export class AuditModule {
  constructor(
    log: AuditLog,
    purger: Purger,
    { auditRetentionDays }: Config,
    { httpAdapter }: HttpAdapterHost,
  ) {
    purger.register('audit_entries', auditExpiry(auditRetentionDays));
    // An application context has no HTTP server.
    const fastify = httpAdapter?.getInstance<FastifyInstance>();
    if (fastify) auditRequests(fastify, log);
  }
}
