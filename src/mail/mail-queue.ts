import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Clock } from '../common/clock/clock.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { OutboxMail } from './outbox-mail.entity.js';

/** How long a process has a mail to itself, in milliseconds; longer than any attempt takes. */
const LEASE = 45_000;

/** How long a mail is retried, in milliseconds. */
const LIFETIME = 24 * 3600_000;

/** Before the second attempt, in milliseconds; twice as long after each further one, up to the greatest. */
const FIRST_DELAY = 5000;
const GREATEST_DELAY = 15 * 60_000;

/** A mail that this process is sending. Its `attempts` are the fencing token of the lease. */
export interface ClaimedMail {
  readonly id: string;
  readonly kind: string;
  readonly data: string;
  readonly attempts: number;
  readonly createdAt: string;
}

/** The waiting mails, as any number of processes take them: each mail is with one of them at a time. */
@Injectable()
export class MailQueue {
  constructor(
    @InjectRepository(OutboxMail) private readonly mails: Repository<OutboxMail>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** Removes the waiting mails of these owners, or those of one kind. One that is being sent at this moment still arrives. */
  async discard(owners: readonly string[], kind?: string): Promise<void> {
    await this.mails.delete({ owner: In([...owners]), ...(kind !== undefined && { kind }) });
  }

  /** Takes the mail that has been due for longest, if there is one. Its lease ends by itself, so that another process takes over when this one dies. */
  async claim(): Promise<ClaimedMail | undefined> {
    const now = this.clock.now();
    const parameters = { now: now.toISOString(), lease: new Date(now.getTime() + LEASE).toISOString() };
    // A read first: on SQLite, an update that changes nothing waits for the writer all the same.
    const due = 'SELECT id FROM mails WHERE next_attempt_at <= :now ORDER BY next_attempt_at, id LIMIT 1';
    if (!(await this.queries.one(due, parameters))) return undefined;
    // SQL, because TypeORM has no `UPDATE … RETURNING` on SQLite.
    const [mail] = await this.transactions.execute<ClaimedMail>(
      `UPDATE mails SET attempts = attempts + 1, next_attempt_at = :lease
       WHERE id = (${due} ${this.queries.dialect.lockFreeRows})
       RETURNING id, kind, data, attempts, created_at AS "createdAt"`,
      parameters,
    );
    return mail;
  }

  /** In how many milliseconds the next mail is due; 0 or less when one is. `undefined` when none waits. */
  async untilDue(): Promise<number | undefined> {
    const [next] = await this.mails.find({ order: { nextAttemptAt: 'ASC' }, take: 1 });
    return next && next.nextAttemptAt.getTime() - this.clock.now().getTime();
  }

  /** The mail has been sent, or is not to be sent any more. */
  async remove({ id, attempts }: ClaimedMail): Promise<void> {
    await this.mails.delete({ id, attempts });
  }

  /** Puts a failed mail back. @returns whether it will be tried again: not after a day */
  async postpone(mail: ClaimedMail): Promise<boolean> {
    const { id, attempts, createdAt } = mail;
    const now = this.clock.now().getTime();
    if (now - Date.parse(createdAt) >= LIFETIME) {
      await this.remove(mail);
      return false;
    }
    const delay = Math.min(FIRST_DELAY * 2 ** (attempts - 1), GREATEST_DELAY) * (1 + Math.random() / 4);
    await this.mails.update({ id, attempts }, { nextAttemptAt: new Date(now + delay) });
    return true;
  }
}
