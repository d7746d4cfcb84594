import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Registry } from 'prom-client';
import { Clock } from '../jobs/clock.js';
import { measureQueue } from '../operations/metrics.js';
import { Database } from '../database/database.js';
import { MailOutbox } from './mail-outbox.js';
import { MailQueue } from './mail-queue.js';
import { MailSender } from './mail-sender.js';
import { MailTransport } from './mail-transport.js';
import { OutboxMail } from './outbox-mail.entity.js';

/** Mails: recorded in transactions, sent in the background. It depends on no module that sends mail. */
@Module({
  imports: [TypeOrmModule.forFeature([OutboxMail])],
  providers: [MailOutbox, MailQueue, MailSender, MailTransport],
  exports: [MailOutbox, MailQueue, MailSender],
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
