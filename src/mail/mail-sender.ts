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
import { type ClaimedMail, MailQueue } from './mail-queue.js';
import { describeMailError, MailTransport } from './mail-transport.js';

/** Mails that are sent at the same time, by one process: a slow attempt does not delay the others. */
const CONCURRENCY = 4;

/** After a mail was recorded, in milliseconds: time for its transaction to commit. */
const SOON = 100;

/** Between two looks at the outbox, in milliseconds, where nothing is due earlier: for what a killed process has left. */
const INTERVAL = 10_000;

/** How long a stopping process waits for mails that are being sent, in milliseconds; they are retried otherwise. */
const PATIENCE = 3000;

/** Sends the mails of the outbox, in the background: no request waits for it. */
@Injectable()
export class MailSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly composers = new Map<string, MailComposer>();
  private timer: NodeJS.Timeout | undefined;
  private readonly underWay = new Set<Promise<void>>();
  /** How many of {@link CONCURRENCY} are sending: a mail server that hangs must not collect connections. */
  private busy = 0;
  private stopped = true;
  /** Whether it is going to look within a moment. */
  private isAwake = false;
  /** Whoever wakes it may be within a unit of work, which sending is no part of. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(
    private readonly queue: MailQueue,
    private readonly transport: MailTransport,
    private readonly config: Config,
  ) {}

  /** Says who writes the mails of a kind. */
  register<Data>(kind: string, composer: MailComposer<Data>): void {
    this.composers.set(kind, composer);
  }

  onApplicationBootstrap(): void {
    if (this.config.mail.kind === 'none') return;
    this.stopped = false;
    this.schedule(SOON);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    const abort = new AbortController();
    const patience = sleep(PATIENCE, undefined, { signal: abort.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.underWay), patience]);
    abort.abort();
  }

  /** Looks for mails to send, a moment from now. */
  wake(): void {
    // Each wake would put the one before it off, and steady load would keep mails waiting.
    if (this.stopped || this.isAwake) return;
    this.isAwake = true;
    this.schedule(SOON);
  }

  /** Sends what is due, as far as {@link CONCURRENCY} allows, and resolves when nothing is. A mail that fails is put back. */
  async sendDue(): Promise<void> {
    const workers: Promise<void>[] = [];
    while (this.busy < CONCURRENCY) workers.push(this.work());
    await Promise.all(workers);
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

  /** Looks again when the next mail is due. */
  private async scheduleNext(): Promise<void> {
    const delay = await this.queue.untilDue();
    // Where all are busy, they take what is due when they are done.
    if (this.stopped || this.isAwake || this.busy === CONCURRENCY || delay === undefined) return;
    this.schedule(Math.min(Math.max(delay, SOON), INTERVAL));
  }

  private async send(mail: ClaimedMail): Promise<void> {
    const { id, kind, attempts } = mail;
    try {
      const compose = this.composers.get(kind);
      if (!compose) throw new Error(`No module writes mails of the kind ${kind}`);
      const message = await compose(JSON.parse(mail.data));
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
