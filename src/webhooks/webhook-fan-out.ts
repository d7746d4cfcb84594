import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { type StoredEvent, Subscribers } from '../platform/changes/index.js';
import { Deliveries } from './deliveries.js';
import { Webhook } from './webhook.entity.js';

/** Creates deliveries from events, in the transaction that advances the position in the log. */
@Injectable()
export class WebhookFanOut {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly deliveries: Deliveries,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    subscribers: Subscribers,
  ) {
    subscribers.register({
      name: 'webhooks',
      // A webhook gets no event that is older than itself.
      from: 'start',
      isIdle: async () => !(await webhooks.existsBy({ active: true })),
      process: (events, advance) =>
        transactions.run(async () => {
          await this.add(events);
          await advance(events.at(-1)!.position);
        }),
    });
  }

  /** Adds the deliveries of events to all active webhooks with their types. Existing deliveries are kept. */
  private async add(events: readonly StoredEvent[]): Promise<void> {
    const webhooks = await this.webhooks.findBy({ active: true });
    const wanted = webhooks.map(({ id, types, afterPosition }) => ({
      id,
      afterPosition,
      types: new Set(JSON.parse(types) as string[]),
    }));
    const rows = events.flatMap(({ id: eventId, position, type }) =>
      wanted
        .filter(({ types, afterPosition }) => position > afterPosition && (types.has('*') || types.has(type)))
        .map(({ id: webhookId }) => ({ webhookId, eventId, position, type })),
    );
    if (rows.length === 0) return;
    const { dialect } = this.queries;
    const now = this.clock.now();
    const field = (name: string) => `row.value ->> '${name}'`;
    await this.transactions.execute(
      `INSERT INTO webhook_deliveries
         (webhook_id, event_id, position, type, status, attempts, next_attempt_at, created_at, expires_at)
       SELECT CAST(${field('webhookId')} AS bigint), ${field('eventId')}, CAST(${field('position')} AS bigint),
         ${field('type')}, 'pending', 0, ${dialect.toTimestamp(':now')}, ${dialect.toTimestamp(':now')},
         ${dialect.toTimestamp(':expiresAt')}
       FROM ${dialect.elementsOf(':rows')} AS row
       WHERE EXISTS (
         SELECT 1 FROM webhooks WHERE webhooks.id = CAST(${field('webhookId')} AS bigint) AND active ${dialect.lockRows}
       )
       ON CONFLICT (webhook_id, event_id) DO NOTHING`,
      {
        rows: JSON.stringify(rows),
        now: now.toISOString(),
        expiresAt: this.deliveries.expiryAt(now).toISOString(),
      },
    );
    this.deliveries.reportDue();
  }
}
