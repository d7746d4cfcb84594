import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../jobs/clock.js';
import { Signal } from '../jobs/signal.js';
import { AppError } from '../http/errors/errors.js';
import { Config } from '../config/config.js';
import { Transactions } from '../database/transactions.js';
import { OutboxMail } from './outbox-mail.entity.js';

/** When a mail is due, in milliseconds: after the response, whose time would otherwise reveal whether there is a mail. */
export const FIRST_ATTEMPT = { earliest: 100, latest: 200 };

/** Records mails in the transaction of their cause. The service sends them after the commit; commands only record. */
@Injectable()
export class MailOutbox {
  /** Sent after the commit of a mail. */
  readonly recorded = new Signal(new Logger('Mail'));

  constructor(
    @InjectRepository(OutboxMail) private readonly mails: Repository<OutboxMail>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Whether mail is configured. Without it, nothing may be recorded. */
  get isOpen(): boolean {
    return this.config.mail.kind !== 'none';
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` when mail is not configured */
  requireOpen(): void {
    if (!this.isOpen) throw new AppError('SERVICE_UNAVAILABLE', 'This service has no mail server configured');
  }

  /**
   * Records a mail, in the current unit of work.
   *
   * @param kind the kind of a registered composer
   * @param owner see {@link MailQueue.discard}
   * @param data JSON for the composer, without secrets
   */
  async add(kind: string, owner: string, data: object): Promise<void> {
    const now = this.clock.now();
    const { earliest, latest } = FIRST_ATTEMPT;
    const nextAttemptAt = new Date(now.getTime() + earliest + Math.random() * (latest - earliest));
    await this.mails.insert({
      id: randomUUID(),
      kind,
      owner,
      data: JSON.stringify(data),
      attempts: 0,
      nextAttemptAt,
      createdAt: now,
    });
    this.transactions.onCommit(() => this.recorded.send());
  }
}
