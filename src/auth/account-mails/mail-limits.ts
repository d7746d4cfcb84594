import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { networkOf } from '../../platform/http/client.js';
import { Clock } from '../../platform/jobs/clock.js';
import { Transactions } from '../../platform/database/transactions.js';
import { emailKey } from '../accounts/index.js';
import { MailLimit } from './mail-limit.entity.js';

const MINUTE = 60_000;

interface Limit {
  /** Between two mails, in milliseconds. */
  readonly interval: number;
  /** The number of mails within a period, which begins with the first one. */
  readonly max: number;
  /** In milliseconds. */
  readonly period: number;
}

/** Of the mails of a kind to an address. */
const RECIPIENT: Limit = { interval: MINUTE, max: 20, period: 24 * 60 * MINUTE };

/** Of the mails that a client causes, to whatever address. */
const CLIENT: Limit = { interval: 0, max: 100, period: 60 * MINUTE };

/**
 * What is limited together: mails about addresses (registrations, repeated requests, and changes of address with their
 * notice to the former address), and resets of passwords.
 */
export type LimitedMails = 'addresses' | 'resets';

/** Limits how often mails are sent to an address, and because of a client. The database keeps the state for all replicas. */
@Injectable()
export class MailLimits {
  constructor(
    @InjectRepository(MailLimit) private readonly limits: Repository<MailLimit>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * Allows one mail: of any number of concurrent requests, one is allowed. Call it in the unit of work that records the
   * mail.
   *
   * @param client the address of the client that causes it, unless it goes to the client's own address
   * @returns 0, or the seconds to wait
   */
  async take(kind: LimitedMails, email: string, client?: string): Promise<number> {
    // The client first: beyond its limit, it must not take away the mails of others.
    const clientId = client === undefined ? undefined : hash(['client', networkOf(client)]);
    if (clientId !== undefined && !(await this.takeOf(clientId, CLIENT))) return this.wait(clientId, CLIENT);
    const recipientId = hash([kind, emailKey(email)]);
    if (await this.takeOf(recipientId, RECIPIENT)) return 0;
    if (clientId !== undefined) await this.limits.decrement({ id: clientId }, 'sent', 1);
    return this.wait(recipientId, RECIPIENT);
  }

  private async takeOf(id: string, { interval, max, period }: Limit): Promise<boolean> {
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
        // The clocks of replicas differ a little.
        next: new Date(interval === 0 ? 0 : now.getTime() + interval).toISOString(),
        end: new Date(now.getTime() + period).toISOString(),
        max,
      },
    );
    return taken.length > 0;
  }

  private async wait(id: string, { max }: Limit): Promise<number> {
    const limit = await this.limits.findOneBy({ id });
    const isFull = limit !== null && (limit.sent >= max || limit.nextAt === null);
    const end = (isFull ? limit.expiresAt : limit?.nextAt)?.getTime() ?? 0;
    return Math.max(1, Math.ceil((end - this.clock.now().getTime()) / 1000));
  }
}

const hash = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
