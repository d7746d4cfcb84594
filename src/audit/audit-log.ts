import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, LessThan, Repository } from 'typeorm';
import { OwnedByAccount, type OwnedData } from '../platform/access/index.js';
import { CursorPage } from '../platform/http/pages/page.js';
import { AuditEntry } from '../platform/changes/index.js';
import { type AuditEntryView, toAuditEntryView } from './audit-entry.view.js';

const EXPORT_BATCH = 500;

export interface AuditQuery {
  readonly accountId?: number | undefined;
  readonly subject?: string | undefined;
  /** Only entries before this one; 0 starts with the newest. */
  readonly beforeId: number;
  readonly limit: number;
}

@Injectable()
@OwnedByAccount()
export class AuditLog implements OwnedData {
  readonly exports = { audit: ({ id }: { readonly id: number }) => this.viewsOf(id) };

  constructor(@InjectRepository(AuditEntry) private readonly entries: Repository<AuditEntry>) {}

  async list(query: AuditQuery): Promise<CursorPage<AuditEntry>> {
    return CursorPage.of(await this.find({ ...query, limit: query.limit + 1 }), query.limit);
  }

  find({ accountId, subject, beforeId, limit }: AuditQuery): Promise<AuditEntry[]> {
    const where: FindOptionsWhere<AuditEntry> = {
      ...(accountId !== undefined && { actorId: accountId }),
      ...(subject !== undefined && { subject }),
      ...(beforeId > 0 && { id: LessThan(beforeId) }),
    };
    return this.entries.find({ where, order: { id: 'DESC' }, take: limit });
  }

  /** Entries stay, with the id of the deleted account and without address and client. */
  async onDeletion({ id: actorId }: { readonly id: number }): Promise<void> {
    await this.entries.update({ actorId }, { address: '', agent: '' });
  }

  private async *viewsOf(accountId: number): AsyncGenerator<AuditEntryView[]> {
    for await (const entries of this.entriesOf(accountId)) yield entries.map(toAuditEntryView);
  }

  async *entriesOf(accountId: number): AsyncGenerator<AuditEntry[]> {
    let entries: AuditEntry[] = [];
    do {
      entries = await this.find({ accountId, beforeId: entries.at(-1)?.id ?? 0, limit: EXPORT_BATCH });
      yield entries;
    } while (entries.length === EXPORT_BATCH);
  }
}
