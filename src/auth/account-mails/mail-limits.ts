import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../common/ports/clock.js';
import { Transactions } from '../../database/transactions.js';
import { emailKey } from '../accounts/index.js';
import { MailLimit } from './mail-limit.entity.js';

/** Between two mails of a kind to an address, in milliseconds. */
const INTERVAL = 60_000;

/** The maximum number of mails of a kind to an address within a day. */
const MAX_PER_DAY = 20;

const DAY = 24 * 3600_000;

/**
 * What is limited together: mails about addresses (registrations, repeated requests, and changes of address with their
 * notice to the former address), and resets of passwords.
 */
export type LimitedMails = 'addresses' | 'resets';

/** Limits how often mails are sent to an address. The database keeps the state for all replicas. */
@Injectable()
export class MailLimits {
  constructor(
    @InjectRepository(MailLimit) private readonly limits: Repository<MailLimit>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * Allows one mail, in one statement: of any number of concurrent requests, one is allowed.
   *
   * @returns 0, or the seconds to wait
   */
  async take(kind: LimitedMails, email: string): Promise<number> {
    const id = createHash('sha256')
      .update(JSON.stringify([kind, emailKey(email)]))
      .digest('base64url');
    const now = this.clock.now();
    // SQL, because an upsert of TypeORM cannot have a condition on the existing row.
    const taken = await this.transactions.execute(
      `INSERT INTO mail_limits AS l (id, sent, next_at, expires_at) VALUES (:id, 1, :next, :end)
       ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at,
         sent = CASE WHEN l.expires_at <= :now THEN 1 ELSE l.sent + 1 END,
         expires_at = CASE WHEN l.expires_at <= :now THEN excluded.expires_at ELSE l.expires_at END
       WHERE l.expires_at <= :now OR (l.next_at <= :now AND l.sent < :max)
       RETURNING id`,
      {
        id,
        now: now.toISOString(),
        next: new Date(now.getTime() + INTERVAL).toISOString(),
        end: new Date(now.getTime() + DAY).toISOString(),
        max: MAX_PER_DAY,
      },
    );
    if (taken.length > 0) return 0;
    const limit = await this.limits.findOneBy({ id });
    const isFull = limit !== null && (limit.sent >= MAX_PER_DAY || limit.nextAt === null);
    const end = (isFull ? limit.expiresAt : limit?.nextAt)?.getTime() ?? 0;
    return Math.max(1, Math.ceil((end - now.getTime()) / 1000));
  }
}
