import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Counter, Registry } from 'prom-client';
import { Clock } from '../platform/jobs/clock.js';
import { Purger } from '../platform/jobs/purger.js';
import { EncryptionModule } from '../platform/encryption/index.js';
import { Database } from '../platform/database/database.js';
import { measureQueue } from '../platform/operations/metrics.js';
import { Deliveries } from './deliveries.js';
import { DeliveryBodies } from './delivery-bodies.js';
import { DeliveryQueue, type Outcome } from './delivery-queue.js';
import { KeptEvents } from './kept-events.js';
import { Webhook } from './webhook.entity.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { WebhookFanOut } from './webhook-fan-out.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookRules } from './webhook-rules.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

/** Sends events to receivers on other servers. The database is the queue. */
@Module({
  imports: [TypeOrmModule.forFeature([Webhook, WebhookDelivery]), EncryptionModule],
  controllers: [WebhooksController],
  providers: [
    Deliveries,
    DeliveryBodies,
    WebhookRules,
    WebhookSecrets,
    WebhooksService,
    KeptEvents,
    DeliveryQueue,
    WebhookSender,
    WebhookFanOut,
  ],
})
export class WebhooksModule {
  constructor(purger: Purger, sender: WebhookSender, database: Database, registry: Registry, clock: Clock) {
    purger.register('webhook_deliveries', {
      column: 'expires_at',
      lifetime: 0,
      unless: `status = 'pending'`,
    });
    measureDeliveries({ database, registry, clock }, sender);
  }
}

/** Measures waiting deliveries and the results of attempts. Webhooks are no label, because their number is unbounded. */
function measureDeliveries(
  services: { database: Database; registry: Registry; clock: Clock },
  sender: WebhookSender,
): void {
  measureQueue(services, {
    count: 'webhook_deliveries_pending',
    age: 'webhook_deliveries_oldest_age_seconds',
    what: 'Deliveries to webhooks that wait, for a first or a further attempt',
    rows: `webhook_deliveries WHERE status = 'pending'`,
  });
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts to deliver, by whether the receiver accepted, responded with another status, or did not respond',
    labelNames: ['result'],
    registers: [services.registry],
  });
  sender.attempted.listen((outcome) => attempts.inc({ result: resultOf(outcome) }));
}

function resultOf({ status, error }: Outcome): 'accepted' | 'refused' | 'unreachable' {
  if (error === null) return 'accepted';
  return status === null ? 'unreachable' : 'refused';
}
