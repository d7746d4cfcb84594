import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../platform/jobs/clock.js';
import { BackgroundTasks } from '../platform/jobs/background-task.js';
import { Signal } from '../platform/jobs/signal.js';
import { Poller } from '../platform/jobs/poller.js';
import { Config } from '../platform/config/config.js';
import { Deliveries } from './deliveries.js';
import { DeliveryBodies } from './delivery-bodies.js';
import { type ClaimedDelivery, DeliveryQueue, type Outcome } from './delivery-queue.js';
import { post, signedHeaders } from './webhook-request.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Concurrent attempts to one webhook by one process; only one while it is failing. */
const CONCURRENCY = 4;

@Injectable()
export class WebhookSender extends Poller<ClaimedDelivery> {
  readonly attempted = new Signal<Outcome>(new Logger('Webhooks'));

  constructor(
    private readonly deliveryQueue: DeliveryQueue,
    private readonly bodies: DeliveryBodies,
    private readonly secrets: WebhookSecrets,
    private readonly clock: Clock,
    private readonly config: Config,
    deliveries: Deliveries,
    tasks: BackgroundTasks,
  ) {
    super(tasks, new Logger('Webhooks'), 'webhook deliveries');
    deliveries.due.listen(() => this.wake());
  }

  claim(running: readonly ClaimedDelivery[]): Promise<ClaimedDelivery[]> {
    const byWebhook = new Map<number, number>();
    for (const { webhookId } of running) byWebhook.set(webhookId, (byWebhook.get(webhookId) ?? 0) + 1);
    return this.deliveryQueue.claim(byWebhook, CONCURRENCY);
  }

  async work(delivery: ClaimedDelivery): Promise<void> {
    const { id, webhookId, attempts } = delivery;
    const outcome = await this.bodies.with(delivery, (body) => this.send(delivery, body));
    if (!outcome) return;
    this.attempted.send(outcome);
    if (outcome.error !== null) {
      this.logger.log({
        msg: 'A delivery failed',
        id,
        webhookId,
        attempts: attempts + 1,
        cause: outcome.error,
      });
    }
    await this.deliveryQueue.settle(delivery, outcome);
  }

  /** @returns `undefined` if nothing is to be sent, because the delivery or its webhook has changed since the claim */
  private async send(delivery: ClaimedDelivery, body: Buffer | undefined): Promise<Outcome | undefined> {
    const webhook = await this.deliveryQueue.findReceiver(delivery);
    if (!webhook) return undefined;
    if (body === undefined) return { status: null, error: 'The event has expired', isFinal: true };
    const now = this.clock.now();
    // A secret that cannot be read is no failure of the receiver: the delivery waits, and the log says why.
    const headers = signedHeaders(
      { id: delivery.eventId, timestamp: Math.floor(now.getTime() / 1000), body },
      await this.secrets.signing(webhook, now),
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
