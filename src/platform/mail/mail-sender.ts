import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../config/config.js';
import { BackgroundTasks } from '../jobs/background-task.js';
import { Poller } from '../jobs/poller.js';
import { FIRST_ATTEMPT, MailOutbox } from './mail-outbox.js';
import { type ClaimedMail, MailQueue } from './mail-queue.js';
import { describeMailError, type MailMessage, MailTransport } from './mail-transport.js';

export interface MailAttempt {
  /** Whether the mail is still to be sent: not if it was discarded, or if another process has taken it over. */
  isCurrent(): Promise<boolean>;
}

/**
 * Composes a mail right before each attempt to send it.
 *
 * @param data what was recorded with the mail
 * @returns `undefined` if there is nothing to send any more, for example because the account was deleted
 */
export type MailComposer<Data = any> = (data: Data, attempt: MailAttempt) => Promise<MailMessage | undefined>;

/** A mail server that hangs must not accumulate connections. */
const CONCURRENCY = 4;

@Injectable()
export class MailSender extends Poller<ClaimedMail> {
  private readonly composers = new Map<string, MailComposer>();

  constructor(
    private readonly mails: MailQueue,
    private readonly transport: MailTransport,
    private readonly config: Config,
    outbox: MailOutbox,
    tasks: BackgroundTasks,
  ) {
    super(tasks, new Logger('Mail'), 'mails', CONCURRENCY);
    outbox.recorded.listen(() => this.wake(FIRST_ATTEMPT.latest));
  }

  register<Data>(kind: string, composer: MailComposer<Data>): void {
    this.composers.set(kind, composer);
  }

  override start(): void {
    if (this.config.mail.kind !== 'none') super.start();
  }

  claim(): Promise<ClaimedMail[]> {
    return this.mails.claim();
  }

  /** A mail that fails is returned to the queue. */
  async work(mail: ClaimedMail): Promise<void> {
    const { id, kind, attempts } = mail;
    try {
      const compose = this.composers.get(kind);
      if (!compose) throw new Error(`No module writes mails of the kind ${kind}`);
      const message = await compose(JSON.parse(mail.data), { isCurrent: () => this.mails.isHeld(mail) });
      if (message) await this.transport.send(id, message);
    } catch (error) {
      const isRetried = await this.mails.postpone(mail);
      const msg = isRetried
        ? 'A mail could not be sent, and will be retried'
        : 'A mail is given up after a day';
      this.logger[isRetried ? 'warn' : 'error']({ msg, id, kind, attempts, cause: describeMailError(error) });
      return;
    }
    await this.mails.remove(mail);
  }
}
