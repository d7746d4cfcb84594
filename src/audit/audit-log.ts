import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, LessThan, Repository } from 'typeorm';
import { type AuditTrail, currentTrail, runWithoutTrail } from '../platform/http/audit-trail.js';
import { CursorPage } from '../platform/http/pages/page.js';
import { Clock } from '../platform/jobs/clock.js';
import { Transactions } from '../platform/database/transactions.js';
import type { TransactionParticipant } from '../platform/database/unit-of-work.js';
import { AuditEntry } from './audit-entry.entity.js';

/** The maximum length of a path in the log, in characters. */
const MAX_SUBJECT = 500;

/** Entries in memory at a time. */
const EXPORT_BATCH = 500;

/** Which entries to read. */
export interface AuditQuery {
  readonly accountId?: number | undefined;
  readonly subject?: string | undefined;
  /** Only entries before this one; 0 starts with the newest. */
  readonly beforeId: number;
  readonly limit: number;
}

/** Records who changed what, in the transaction of the change. */
@Injectable()
export class AuditLog implements TransactionParticipant {
  constructor(
    @InjectRepository(AuditEntry) private readonly entries: Repository<AuditEntry>,
    private readonly clock: Clock,
    private readonly transactions: Transactions,
  ) {
    transactions.addParticipant(this);
  }

  isWanted(): boolean {
    return currentTrail()?.responsible !== undefined;
  }

  /** Recorded only when the transaction has committed: a unit of work may roll back and run again. */
  async beforeCommit(named: readonly string[]): Promise<void> {
    const trail = currentTrail();
    if (trail?.responsible === undefined) return;
    await this.insert(trail, named);
    this.transactions.onCommit(() => trail.markRecorded());
  }

  /** Records a change outside of the database, such as a call to another service. */
  async record(trail: AuditTrail): Promise<void> {
    await runWithoutTrail(() => this.insert(trail, []));
    trail.markRecorded();
  }

  /** One page of entries, newest first. */
  async list(query: AuditQuery): Promise<CursorPage<AuditEntry>> {
    return CursorPage.of(await this.find({ ...query, limit: query.limit + 1 }), query.limit);
  }

  /** Entries, newest first. */
  find({ accountId, subject, beforeId, limit }: AuditQuery): Promise<AuditEntry[]> {
    const where: FindOptionsWhere<AuditEntry> = {
      ...(accountId !== undefined && { actorId: accountId }),
      ...(subject !== undefined && { subject }),
      ...(beforeId > 0 && { id: LessThan(beforeId) }),
    };
    return this.entries.find({ where, order: { id: 'DESC' }, take: limit });
  }

  /** All entries of an account, newest first, in batches. */
  async *entriesOf(accountId: number): AsyncGenerator<AuditEntry[]> {
    let entries: AuditEntry[] = [];
    do {
      entries = await this.find({ accountId, beforeId: entries.at(-1)?.id ?? 0, limit: EXPORT_BATCH });
      yield entries;
    } while (entries.length === EXPORT_BATCH);
  }

  private async insert(trail: AuditTrail, named: readonly string[]): Promise<void> {
    const subjects = trail.subjectsOf(named);
    if (subjects.length === 0) return;
    const { action, responsible, source } = trail;
    const createdAt = this.clock.now();
    await this.entries.insert(
      subjects.map((subject) => ({
        createdAt,
        actorId: responsible ?? null,
        action,
        subject: subject.slice(0, MAX_SUBJECT),
        ...source,
      })),
    );
  }
}
