import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { StaffOnly } from '../platform/access/index.js';
import { firstValue, type QueryParameters } from '../platform/http/query.js';
import { ReturnsCursorPage, Throws } from '../platform/http/openapi/returns.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { CursorQuery, LimitQuery, QueryParameter } from '../platform/http/openapi/queries.js';
import { cursorRequest } from '../platform/http/pages/page-request.js';
import { UNKNOWN_ID, toId } from '../platform/http/validation/id.js';
import { isStorable } from '../platform/http/validation/text.js';
import { AuditEntryView, toAuditEntryView } from './audit-entry.view.js';
import { AuditLog, type AuditQuery } from './audit-log.js';

@ApiTags('Audit')
@Controller({ path: 'audit', version: '1' })
@StaffOnly()
export class AuditController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  @ApiOperation({ summary: 'Lists changes and who made them, newest first' })
  @CursorQuery()
  @LimitQuery()
  @QueryParameter('account_id', 'Only changes by this account; an invalid id matches nothing.', {
    type: 'integer',
    format: 'int64',
  })
  @QueryParameter('subject', 'Only changes of the resource with this path.', {
    type: 'string',
    examples: ['/v1/posts/1'],
  })
  @ReturnsCursorPage(AuditEntryView)
  @Throws('INVALID_CURSOR')
  async list(
    @Query() query: QueryParameters,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<AuditEntryView>> {
    const page = await this.log.list(auditQuery(query));
    return paged(reply, page.map(toAuditEntryView));
  }
}

function auditQuery(query: QueryParameters): AuditQuery {
  const { afterId: beforeId, limit } = cursorRequest(query);
  const account = firstValue(query, 'account_id');
  const subject = firstValue(query, 'subject');
  if (subject && !isStorable(subject)) return { accountId: UNKNOWN_ID, beforeId, limit };
  const accountId = account ? (toId(account) ?? UNKNOWN_ID) : undefined;
  return { accountId, subject: subject || undefined, beforeId, limit };
}
