import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Clock } from '../jobs/clock.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { OutboxMail } from './outbox-mail.entity.js';

/** How long the lease of a mail lasts, in milliseconds; longer than any attempt. */
const LEASE = 45_000;

/** How long a mail is retried, in milliseconds. */
const LIFETIME = 24 * 3600_000;

/** Before the second attempt, in milliseconds; doubled after each further one, up to the maximum. */
const FIRST_DELAY = 5000;
const MAX_DELAY = 15 * 60_000;

/** A mail that this process sends. Its `attempts` are the fencing token of the lease. */
export interface ClaimedMail {
  readonly id: string;
  readonly kind: string;
  readonly data: string;
  readonly attempts: number;
  readonly createdAt: string;
}

/** The waiting mails. Any number of processes may take them: each mail is with one of them at a time. */
@Injectable()
export class MailQueue {
  constructor(
    @InjectRepository(OutboxMail) private readonly mails: Repository<OutboxMail>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** Removes the waiting mails of these owners, or those of one kind. A mail that is being sent still arrives. */
  async discard(owners: readonly string[], kind?: string): Promise<void> {
    await this.mails.delete({ owner: In([...owners]), ...(kind !== undefined && { kind }) });
  }

  /** Takes the mail that has been due for longest, if any. */
  async claim(): Promise<ClaimedMail[]> {
    const now = this.clock.now();
    const parameters = { now: now.toISOString(), lease: new Date(now.getTime() + LEASE).toISOString() };
    // Reads first: on SQLite, even an update that changes nothing waits for the writer.
    const due = 'SELECT id FROM mails WHERE next_attempt_at <= :now ORDER BY next_attempt_at, id LIMIT 1';
    const [mailDue] = await this.queries.all(due, parameters);
    if (!mailDue) return [];
    // SQL, because TypeORM has no `UPDATE … RETURNING` on SQLite.
    return this.transactions.execute<ClaimedMail>(
      `UPDATE mails SET attempts = attempts + 1, next_attempt_at = :lease
       WHERE id = (${due} ${this.queries.dialect.lockFreeRows})
       RETURNING id, kind, data, attempts, created_at AS "createdAt"`,
      parameters,
    );
  }

  /** Whether a mail is still with this process. */
  isHeld({ id, attempts }: ClaimedMail): Promise<boolean> {
    return this.mails.existsBy({ id, attempts });
  }

  /** Removes a mail that was sent, or must not be sent any more. */
  async remove({ id, attempts }: ClaimedMail): Promise<void> {
    await this.mails.delete({ id, attempts });
  }

  /** Returns a failed mail to the queue. @returns whether it will be retried: not after a day */
  async postpone(mail: ClaimedMail): Promise<boolean> {
    const { id, attempts, createdAt } = mail;
    const now = this.clock.now().getTime();
    if (now - Date.parse(createdAt) >= LIFETIME) {
      await this.remove(mail);
      return false;
    }
    const delay = Math.min(FIRST_DELAY * 2 ** (attempts - 1), MAX_DELAY) * (1 + Math.random() / 4);
    await this.mails.update({ id, attempts }, { nextAttemptAt: new Date(now + delay) });
    return true;
  }
}
