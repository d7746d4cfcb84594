import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Config } from '../config/config.js';
import type { MailComposer } from './mail-message.js';
import { MailOutbox } from './mail-outbox.js';
import { type ClaimedMail, MailQueue } from './mail-queue.js';
import { describeMailError, MailTransport } from './mail-transport.js';

/** How many mails a process sends at once: a slow attempt does not delay the others. */
const CONCURRENCY = 4;

/** After a mail was recorded, in milliseconds: those that are recorded together are read together. */
const SOON = 100;

/** The longest interval between two reads of the outbox, in milliseconds: for mails that a killed process has left. */
const INTERVAL = 10_000;

/** How long a stopping process waits for mails that are being sent, in milliseconds; then they are retried later. */
const STOP_TIMEOUT = 3000;

/** Sends the mails of the outbox in the background. */
@Injectable()
export class MailSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly composers = new Map<string, MailComposer>();
  private timer: NodeJS.Timeout | undefined;
  private readonly underWay = new Set<Promise<void>>();
  /** How many of {@link CONCURRENCY} are sending: a mail server that hangs must not accumulate connections. */
  private busy = 0;
  private stopped = true;
  /** Whether the next read is scheduled. */
  private isAwake = false;
  /** `wake` is called by a request, whose context sending must not have. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(
    private readonly queue: MailQueue,
    private readonly transport: MailTransport,
    private readonly config: Config,
    outbox: MailOutbox,
  ) {
    outbox.onRecorded(() => this.wake());
  }

  /** Registers the composer of a kind of mails. */
  register<Data>(kind: string, composer: MailComposer<Data>): void {
    this.composers.set(kind, composer);
  }

  onApplicationBootstrap(): void {
    if (!this.config.serves || this.config.mail.kind === 'none') return;
    this.stopped = false;
    this.schedule(SOON);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    const abort = new AbortController();
    const timeout = sleep(STOP_TIMEOUT, undefined, { signal: abort.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.underWay), timeout]);
    abort.abort();
  }

  /** Schedules a read of the outbox. */
  wake(): void {
    // If each wake postponed the read, mails would wait as long as there is steady load.
    if (this.stopped || this.isAwake) return;
    this.isAwake = true;
    this.schedule(SOON);
  }

  /** Sends all due mails, at most {@link CONCURRENCY} at once. A mail that fails is returned to the queue. */
  async sendDue(): Promise<void> {
    const workers: Promise<void>[] = [];
    while (this.busy < CONCURRENCY) workers.push(this.work());
    // A stop waits for all of them, also after an error of one.
    const results = await Promise.allSettled(workers);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async work(): Promise<void> {
    this.busy++;
    try {
      for (let mail; !this.stopped && (mail = await this.queue.claim());) await this.send(mail);
    } finally {
      this.busy--;
    }
  }

  private schedule(delay: number): void {
    clearTimeout(this.timer);
    this.timer = this.outside(setTimeout, () => this.begin(), delay).unref();
  }

  private begin(): void {
    this.isAwake = false;
    this.schedule(INTERVAL);
    const round = this.sendDue()
      .then(() => this.scheduleNext())
      .catch((error: unknown) => this.logger.warn({ msg: 'The outbox cannot be read', err: error }))
      .finally(() => this.underWay.delete(round));
    this.underWay.add(round);
  }

  /** Reads again when the next mail is due. */
  private async scheduleNext(): Promise<void> {
    const delay = await this.queue.untilDue();
    // All are busy, and take the next due mail when they are done.
    if (this.stopped || this.isAwake || this.busy === CONCURRENCY || delay === undefined) return;
    this.schedule(Math.min(Math.max(delay, SOON), INTERVAL));
  }

  private async send(mail: ClaimedMail): Promise<void> {
    const { id, kind, attempts } = mail;
    try {
      const compose = this.composers.get(kind);
      if (!compose) throw new Error(`No module writes mails of the kind ${kind}`);
      const message = await compose(JSON.parse(mail.data), { isCurrent: () => this.queue.isHeld(mail) });
      if (message) await this.transport.send(id, message);
    } catch (error) {
      const isRetried = await this.queue.postpone(mail);
      const msg = isRetried
        ? 'A mail could not be sent, and will be retried'
        : 'A mail is given up after a day';
      this.logger[isRetried ? 'warn' : 'error']({ msg, id, kind, attempts, cause: describeMailError(error) });
      return;
    }
    await this.queue.remove(mail);
  }
}
