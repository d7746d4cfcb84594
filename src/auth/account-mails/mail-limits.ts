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
  async take(kind: string, email: string): Promise<number> {
    const id = createHash('sha256')
      .update(JSON.stringify([kind, emailKey(email)]))
      .digest('base64url');
    const now = this.clock.now();
    // SQL, because an upsert of TypeORM cannot have a condition on the existing row.
    const taken = await this.transactions.execute(
      `INSERT INTO mail_limits AS l (id, expires_at) VALUES (:id, :end)
       ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE l.expires_at <= :now
       RETURNING id`,
      { id, now: now.toISOString(), end: new Date(now.getTime() + INTERVAL).toISOString() },
    );
    if (taken.length > 0) return 0;
    const limit = await this.limits.findOneBy({ id });
    const end = limit?.expiresAt.getTime() ?? 0;
    return Math.max(1, Math.ceil((end - now.getTime()) / 1000));
  }
}
