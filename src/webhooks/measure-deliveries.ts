import { Counter, type Registry } from 'prom-client';
import type { Clock } from '../platform/jobs/clock.js';
import { measureQueue } from '../platform/operations/measure-queue.js';
import type { Database } from '../platform/database/database.js';
import type { Outcome } from './delivery-queue.js';
import type { WebhookSender } from './webhook-sender.js';

/** Measures waiting deliveries and the results of attempts. Webhooks are no label, because their number is unbounded. */
export function measureDeliveries(
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
  sender.onAttempt = (outcome) => attempts.inc({ result: resultOf(outcome) });
}

function resultOf({ status, error }: Outcome): 'accepted' | 'refused' | 'unreachable' {
  if (error === null) return 'accepted';
  return status === null ? 'unreachable' : 'refused';
}
