import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from '../common/ports/clock.js';
import { Metrics } from '../common/ports/metrics.js';
import { Purger } from '../common/retention/purger.js';
import { Database } from '../database/database.js';
import { DeliveryBodies } from './delivery-bodies.js';
import { DeliveryQueue } from './delivery-queue.js';
import { measureDeliveries } from './measure-deliveries.js';
import { Webhook } from './webhook.entity.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { WebhookFanOut } from './webhook-fan-out.js';
import { WebhookRules } from './webhook-rules.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

/** Sends events to receivers on other servers. The database is the queue. */
@Module({
  imports: [TypeOrmModule.forFeature([Webhook, WebhookDelivery])],
  controllers: [WebhooksController],
  providers: [DeliveryBodies, WebhookRules, WebhooksService, DeliveryQueue, WebhookSender, WebhookFanOut],
})
export class WebhooksModule {
  constructor(purger: Purger, sender: WebhookSender, database: Database, metrics: Metrics, clock: Clock) {
    purger.register('webhook_deliveries');
    measureDeliveries({ database, metrics, clock }, sender);
  }
}
