import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { StaffOnly } from '../auth/access/index.js';
import type { QueryParameters } from '../common/http/query.js';
import { ReturnsCursorPage, Throws } from '../common/openapi/returns.js';
import { CursorQuery, LimitQuery, QueryParameter } from '../common/openapi/queries.js';
import type { CursorPage } from '../common/pagination/page.js';
import { AuditEntryView } from './audit-entry.view.js';
import { AuditService } from './audit.service.js';

@ApiTags('Audit')
@Controller({ path: 'audit', version: '1' })
@StaffOnly()
export class AuditController {
  constructor(private readonly audit: AuditService) {}

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
  list(@Query() query: QueryParameters): Promise<CursorPage<AuditEntryView>> {
    return this.audit.list(query);
  }
}
