import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from '../common/clock/clock.js';
import { Metrics } from '../common/metrics/metrics.js';
import { Database } from '../database/database.js';
import { MailOutbox } from './mail-outbox.js';
import { MailQueue } from './mail-queue.js';
import { MailSender } from './mail-sender.js';
import { MailTransport } from './mail-transport.js';
import { OutboxMail } from './outbox-mail.entity.js';

/** Mails: recorded with what they are about, sent in the background. It depends on no module that sends mail. */
@Module({
  imports: [TypeOrmModule.forFeature([OutboxMail])],
  providers: [MailOutbox, MailQueue, MailSender, MailTransport],
  exports: [MailOutbox, MailQueue, MailSender],
})
export class MailModule {
  constructor(database: Database, metrics: Metrics, clock: Clock) {
    const read = async (column: string) =>
      (await database.peek<{ value: string | number | null }>(`SELECT ${column} AS value FROM mails`))[0]!
        .value;
    metrics.gauge('mail_outbox_mails', 'Mails that wait to be sent', async () =>
      Number(await read('count(*)')),
    );
    metrics.gauge(
      'mail_outbox_oldest_age_seconds',
      'How long the oldest of them has waited, 0 where there is none',
      async () => {
        const oldest = await read('min(created_at)');
        return oldest === null ? 0 : Math.max(0, (clock.now().getTime() - Date.parse(String(oldest))) / 1000);
      },
    );
  }
}
