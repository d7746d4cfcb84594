import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Registry } from 'prom-client';
import { Clock } from '../jobs/clock.js';
import { measureQueue } from '../operations/measure-queue.js';
import { Database } from '../database/database.js';
import { MailOutbox } from './mail-outbox.js';
import { MailQueue } from './mail-queue.js';
import { MailSender } from './mail-sender.js';
import { MailTransport } from './mail-transport.js';
import { OutboxMail } from './outbox-mail.entity.js';

/** The mails that wait. Nothing in it sends, so commands may use it. */
@Module({
  imports: [TypeOrmModule.forFeature([OutboxMail])],
  providers: [MailOutbox, MailQueue],
  exports: [MailOutbox, MailQueue, TypeOrmModule],
})
class MailQueueModule {}

/** Mails: recorded in transactions, sent in the background. It depends on no module that sends mail. */
@Module({
  imports: [MailQueueModule],
  providers: [MailSender, MailTransport],
  exports: [MailQueueModule, MailSender],
})
export class MailModule {
  constructor(database: Database, registry: Registry, clock: Clock) {
    measureQueue(
      { database, registry, clock },
      {
        count: 'mail_outbox_mails',
        age: 'mail_outbox_oldest_age_seconds',
        what: 'Mails that wait to be sent',
        rows: 'mails',
      },
    );
  }
}
