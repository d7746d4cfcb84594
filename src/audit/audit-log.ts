import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, LessThan, Repository } from 'typeorm';
import { type AuditTrail, currentTrail } from '../common/audit/audit-trail.js';
import { Clock } from '../common/clock/clock.js';
import { Transactions } from '../database/transactions.js';
import { AuditEntry } from './audit-entry.entity.js';

/** As long as a path gets in the log, in characters. */
const MAX_SUBJECT = 500;

/** Which entries to read. */
export interface AuditQuery {
  readonly accountId?: number | undefined;
  readonly subject?: string | undefined;
  /** Only entries before this one; 0 starts with the newest. */
  readonly beforeId: number;
  readonly limit: number;
}

/**
 * Writes down who changed what. An entry commits in the transaction of the change where that is a unit of work; else it
 * is written after the change, and before the response.
 */
@Injectable()
export class AuditLog {
  constructor(
    @InjectRepository(AuditEntry) private readonly entries: Repository<AuditEntry>,
    private readonly clock: Clock,
    private readonly transactions: Transactions,
  ) {
    transactions.beforeCommit(() => this.recordInUnit());
  }

  /** Records what a trail has left. */
  async record(trail: AuditTrail): Promise<void> {
    const subjects = trail.unrecorded();
    await this.insert(trail, subjects);
    trail.markRecorded(subjects);
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

  /** What is recorded counts once the unit of work has committed: it may run again instead. */
  private async recordInUnit(): Promise<void> {
    const trail = currentTrail();
    if (trail?.responsible === undefined) return;
    const subjects = trail.unrecorded();
    await this.insert(trail, subjects);
    this.transactions.onCommit(() => trail.markRecorded(subjects));
  }

  private async insert(
    { action, responsible, source }: AuditTrail,
    subjects: readonly string[],
  ): Promise<void> {
    if (subjects.length === 0) return;
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
