import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, LessThan, Repository } from 'typeorm';
import { CursorPage } from '../platform/http/pages/page.js';
import { AuditEntry } from '../platform/changes/index.js';

const EXPORT_BATCH = 500;

export interface AuditQuery {
  readonly accountId?: number | undefined;
  readonly subject?: string | undefined;
  /** Only entries before this one; 0 starts with the newest. */
  readonly beforeId: number;
  readonly limit: number;
}

@Injectable()
export class AuditLog {
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

  async *entriesOf(accountId: number): AsyncGenerator<AuditEntry[]> {
    let entries: AuditEntry[] = [];
    do {
      entries = await this.find({ accountId, beforeId: entries.at(-1)?.id ?? 0, limit: EXPORT_BATCH });
      yield entries;
    } while (entries.length === EXPORT_BATCH);
  }
}
