import { Injectable } from '@nestjs/common';
import { Transactions } from '../platform/database/transactions.js';
import { Subscribers } from '../platform/changes/index.js';
import { DeliveryQueue } from './delivery-queue.js';
import { WebhookSender } from './webhook-sender.js';

/** Creates deliveries from events, in the transaction that advances the position in the log. */
@Injectable()
export class WebhookFanOut {
  constructor(
    subscribers: Subscribers,
    transactions: Transactions,
    queue: DeliveryQueue,
    sender: WebhookSender,
  ) {
    subscribers.register({
      name: 'webhooks',
      // A webhook gets no event that is older than itself.
      from: 'start',
      isIdle: async () => !(await queue.hasReceivers()),
      process: async (events, advance) => {
        await transactions.run(async () => {
          await queue.add(events);
          await advance(events.at(-1)!.position);
        });
        sender.wake();
      },
    });
  }
}
