import { Injectable } from '@nestjs/common';
import { firstValue, type QueryParameters } from '../common/http/query.js';
import { cursorRequest } from '../common/pagination/page-request.js';
import { CursorPage } from '../common/pagination/page.js';
import { NO_ROW, toId } from '../common/validation/id.js';
import { isStorable } from '../common/validation/text.js';
import { type AuditEntryView, toAuditEntryView } from './audit-entry.view.js';
import { AuditLog } from './audit-log.js';

/** The audit log for staff. */
@Injectable()
export class AuditService {
  constructor(private readonly log: AuditLog) {}

  /** @throws AppError `INVALID_CURSOR` */
  async list(query: QueryParameters): Promise<CursorPage<AuditEntryView>> {
    const { afterId, limit } = cursorRequest(query);
    const account = firstValue(query, 'account_id');
    const subject = firstValue(query, 'subject');
    if (subject && !isStorable(subject)) return new CursorPage([], undefined, false);
    const entries = await this.log.find({
      accountId: account ? (toId(account) ?? NO_ROW) : undefined,
      subject: subject || undefined,
      beforeId: afterId,
      limit: limit + 1,
    });
    return CursorPage.of(entries, limit).map(toAuditEntryView);
  }
}
