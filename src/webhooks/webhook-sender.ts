import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Clock } from '../platform/jobs/clock.js';
import { Config } from '../platform/config/config.js';
import { DeliveryBodies } from './delivery-bodies.js';
import { type ClaimedDelivery, DeliveryQueue, type Outcome } from './delivery-queue.js';
import { post } from './webhook-request.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { signedHeaders } from './webhook-signature.js';

/** Concurrent attempts to one webhook by one process; only one while it is failing. */
const CONCURRENCY = 4;

/** The longest interval between two reads of the queue, in milliseconds: for retries, and for killed processes. */
const INTERVAL = 1000;

/** How long a stopping process waits for its attempts, in milliseconds; then they are repeated later. */
const STOP_TIMEOUT = 3000;

/** Delivers events to webhooks, in the background. */
@Injectable()
export class WebhookSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly outside = AsyncLocalStorage.snapshot();
  private readonly underWay = new Map<Promise<void>, number>();
  private timer: NodeJS.Timeout | undefined;
  private claiming: Promise<void> | undefined;
  private isAwake = false;
  private stopped = true;

  /** Called with the result of each attempt. */
  onAttempt: ((outcome: Outcome) => void) | undefined;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly bodies: DeliveryBodies,
    private readonly secrets: WebhookSecrets,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.serves) return;
    this.stopped = false;
    this.schedule();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.claiming;
    const abort = new AbortController();
    const timeout = sleep(STOP_TIMEOUT, undefined, { signal: abort.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.underWay.keys()), timeout]);
    abort.abort();
  }

  /** Reads due deliveries. */
  wake(): void {
    this.isAwake = true;
    if (this.claiming || this.stopped) return;
    clearTimeout(this.timer);
    this.claiming = this.outside(() => this.claimDue())
      .catch((error: unknown) => this.logger.warn({ msg: 'Deliveries cannot be read', err: error }))
      .finally(() => {
        this.claiming = undefined;
        this.schedule();
      });
  }

  private schedule(): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.timer = this.outside(setTimeout, () => this.wake(), INTERVAL).unref();
  }

  private async claimDue(): Promise<void> {
    while (this.isAwake && !this.stopped) {
      this.isAwake = false;
      const claimed = await this.queue.claim(this.attemptsUnderWay(), CONCURRENCY);
      // There may be more of the same webhooks.
      if (claimed.length > 0) this.isAwake = true;
      for (const delivery of claimed) this.begin(delivery);
    }
  }

  /** The number of attempts in progress, by webhook. */
  private attemptsUnderWay(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const id of this.underWay.values()) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }

  private begin(delivery: ClaimedDelivery): void {
    const attempt = this.attempt(delivery)
      .catch((error: unknown) => {
        // The lease expires, and the delivery is attempted again.
        this.logger.warn({ msg: 'An attempt could not be recorded', id: delivery.id, err: error });
      })
      .finally(() => {
        this.underWay.delete(attempt);
        this.wake();
      });
    this.underWay.set(attempt, delivery.webhookId);
  }

  private async attempt(delivery: ClaimedDelivery): Promise<void> {
    const { id, webhookId, attempts } = delivery;
    const outcome = await this.bodies.with(delivery, (body) => this.send(delivery, body));
    if (!outcome) return;
    this.onAttempt?.(outcome);
    if (outcome.error !== null) {
      this.logger.log({ msg: 'A delivery failed', id, webhookId, attempts, cause: outcome.error });
    }
    await this.queue.settle(delivery, outcome);
  }

  /** @returns `undefined` if nothing is to be sent, because the delivery or its webhook has changed since the claim */
  private async send(delivery: ClaimedDelivery, body: Buffer | undefined): Promise<Outcome | undefined> {
    const webhook = await this.queue.findReceiver(delivery);
    if (!webhook) return undefined;
    if (body === undefined) return { status: null, error: 'The event has expired', isFinal: true };
    const now = this.clock.now();
    const headers = signedHeaders(
      { id: delivery.eventId, timestamp: Math.floor(now.getTime() / 1000), body },
      this.secrets.signing(webhook, now),
    );
    try {
      const status = await post(new URL(webhook.url), body, headers, this.config.webhooksAllowPrivate);
      const isSuccess = status >= 200 && status < 300;
      return { status, error: isSuccess ? null : `The receiver responded with ${status}` };
    } catch (error) {
      return { status: null, error: describe(error) };
    }
  }
}

/** Without resolved addresses, which would reveal the internal network to readers. */
function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === undefined ? message : `The receiver cannot be reached (${code})`).slice(0, 500);
}
