import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../common/clock/clock.js';
import { AppError } from '../common/errors/errors.js';
import { Config } from '../config/config.js';
import { MailSender } from './mail-sender.js';
import { OutboxMail } from './outbox-mail.entity.js';

/** Before the first attempt, in milliseconds, and up to as much again. */
const DELAY = 100;

/** Records mails in the transaction that they belong to. They are sent after it has committed. */
@Injectable()
export class MailOutbox {
  constructor(
    @InjectRepository(OutboxMail) private readonly mails: Repository<OutboxMail>,
    private readonly sender: MailSender,
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
   * Records a mail, in the unit of work that is under way.
   *
   * @param kind one that a composer is registered for
   * @param owner see {@link MailQueue.discard}
   * @param data JSON for the composer, without secrets
   */
  async add(kind: string, owner: string, data: object): Promise<void> {
    const now = this.clock.now();
    // After the response, and at random: its time would otherwise show whether there is something to send.
    const nextAttemptAt = new Date(now.getTime() + DELAY * (1 + Math.random()));
    await this.mails.insert({
      id: randomUUID(),
      kind,
      owner,
      data: JSON.stringify(data),
      attempts: 0,
      nextAttemptAt,
      createdAt: now,
    });
    this.sender.wake();
  }
}
