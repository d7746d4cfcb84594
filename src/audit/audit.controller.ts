import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { StaffOnly } from '../platform/access/index.js';
import { ReturnsCursorPage, Throws } from '../platform/http/openapi/returns.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { CursorRequest } from '../platform/http/pages/page-request.js';
import { idOrUnknown, UNKNOWN_ID } from '../platform/http/validation/id.js';
import { QueryField } from '../platform/http/validation/fields.js';
import { isStorable } from '../platform/http/validation/text.js';
import { AuditEntryView, toAuditEntryView } from './audit-entry.view.js';
import { AuditLog, type AuditQuery } from './audit-log.js';

class ListAuditQuery extends CursorRequest {
  @QueryField({
    type: 'integer',
    format: 'int64',
    description: 'Only changes by this account; an invalid id matches nothing.',
  })
  readonly account_id?: string;

  @QueryField({
    type: 'string',
    description: 'Only changes of the resource with this path.',
    example: '/auth/me',
  })
  readonly subject?: string;
}

@ApiTags('Audit')
@Controller({ path: 'audit', version: '1' })
@StaffOnly()
export class AuditController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  @ApiOperation({ summary: 'Lists changes and who made them, newest first' })
  @ReturnsCursorPage(AuditEntryView)
  @Throws('INVALID_CURSOR')
  async list(
    @Query() query: ListAuditQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<AuditEntryView>> {
    const page = await this.log.list(auditQuery(query));
    return paged(reply, page.map(toAuditEntryView));
  }
}

function auditQuery(query: ListAuditQuery): AuditQuery {
  const { afterId: beforeId, limit, account_id: account, subject } = query;
  if (subject && !isStorable(subject)) return { accountId: UNKNOWN_ID, beforeId, limit };
  const accountId = account ? idOrUnknown(account) : undefined;
  return { accountId, subject: subject || undefined, beforeId, limit };
}
