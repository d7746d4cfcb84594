import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { Config } from '../platform/config/config.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { eventId as idOf, type StoredEvent, toJson } from '../platform/changes/index.js';
import { KeptEvents } from './kept-events.js';
import { isFailingForGood, nextAttempt } from './retry-schedule.js';
import { Webhook } from './webhook.entity.js';
import { TEST_TYPE, toWebhookView } from './webhook.view.js';
import { type DeliveryStatus, WebhookDelivery } from './webhook-delivery.entity.js';

/** How long the lease of a delivery lasts, in milliseconds; longer than any attempt. */
const LEASE = 30_000;

/** How long a delivery is kept after its last attempt, at least as long as events, in days. */
const KEPT_DAYS = 7;

const DEACTIVATED = 'The webhook was deactivated';

/** A delivery that this process attempts. Its `fence` is the fencing token of the lease. */
export interface ClaimedDelivery {
  readonly id: number;
  readonly webhookId: number;
  readonly eventId: string;
  readonly position: number | null;
  readonly body: string | null;
  readonly attempts: number;
  readonly fence: number;
}

/** The result of an attempt. */
export interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
  /** Nothing was sent, and nothing ever can be; it does not count as a failure of the webhook. */
  readonly isFinal?: true;
}

/** The waiting deliveries. Any number of processes may take them: one of them makes each attempt. */
@Injectable()
export class DeliveryQueue {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly events: KeptEvents,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Whether there is an active webhook. */
  hasReceivers(): Promise<boolean> {
    return this.webhooks.existsBy({ active: true });
  }

  /** Adds the deliveries of events to all active webhooks with their types. Existing deliveries are kept. */
  async add(events: readonly StoredEvent[]): Promise<void> {
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
    const { now, expiresAt } = this.times();
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
      { rows: JSON.stringify(rows), now: now.toISOString(), expiresAt: expiresAt.toISOString() },
    );
  }

  /** Adds an event of {@link TEST_TYPE}. */
  addTest(webhook: Webhook): Promise<WebhookDelivery> {
    const { now, expiresAt } = this.times();
    const eventId = `test-${randomUUID()}`;
    const type = TEST_TYPE;
    const body = toJson({
      id: eventId,
      source: this.config.publicUrl,
      type,
      subject: `/v1/webhooks/${webhook.id}`,
      time: now.toISOString(),
      data: JSON.stringify(toWebhookView(webhook)),
    });
    return this.deliveries.save(
      this.deliveries.create({
        webhookId: webhook.id,
        eventId,
        position: null,
        body,
        type,
        status: 'pending',
        attempts: 0,
        nextAttemptAt: now,
        responseStatus: null,
        error: null,
        createdAt: now,
        expiresAt,
      }),
    );
  }

  /** Restarts a delivery from the first attempt. */
  async restart({ id }: WebhookDelivery): Promise<void> {
    await this.deliveries.update(id, {
      status: 'pending',
      attempts: 0,
      // The result of an attempt in progress is ignored.
      fence: () => 'fence + 1',
      nextAttemptAt: this.clock.now(),
      responseStatus: null,
      error: null,
      expiresAt: this.times().expiresAt,
    });
  }

  /**
   * Takes one due delivery of each webhook, the oldest first. Leases expire, so that another
   * process takes over when this one dies.
   *
   * @param underWay the number of attempts in progress, by webhook: a slow receiver delays no other
   * @param maximum the most attempts in progress for one webhook; it is one while the webhook is failing
   */
  async claim(underWay: ReadonlyMap<number, number>, maximum: number): Promise<ClaimedDelivery[]> {
    const now = this.clock.now();
    const busy = [...underWay].filter(([, count]) => count >= maximum).map(([id]) => id);
    const { dialect } = this.queries;
    const due = await this.queries.all<{ id: number | null }>(
      `SELECT (
         SELECT id FROM webhook_deliveries AS delivery
         WHERE delivery.webhook_id = webhooks.id AND delivery.status = 'pending' AND delivery.next_attempt_at <= :now
         ORDER BY delivery.next_attempt_at, delivery.id LIMIT 1
       ) AS id
       FROM webhooks WHERE active AND id NOT IN (${dialect.integersOf(':busy')})
         AND (failing_since IS NULL OR id NOT IN (${dialect.integersOf(':underWay')}))`,
      {
        now: now.toISOString(),
        busy: JSON.stringify(busy),
        underWay: JSON.stringify([...underWay.keys()]),
      },
    );
    const ids = due.map(({ id }) => id).filter((id) => id !== null);
    if (ids.length === 0) return [];
    return this.transactions.execute<ClaimedDelivery>(
      `UPDATE webhook_deliveries SET attempts = attempts + 1, fence = fence + 1, next_attempt_at = :lease
       WHERE id IN (
         SELECT id FROM webhook_deliveries
         WHERE id IN (${dialect.integersOf(':ids')}) AND status = 'pending' AND next_attempt_at <= :now
         ${dialect.lockFreeRows}
       )
       RETURNING id, webhook_id AS "webhookId", event_id AS "eventId", position, body, attempts, fence`,
      {
        ids: JSON.stringify(ids),
        now: now.toISOString(),
        lease: new Date(now.getTime() + LEASE).toISOString(),
      },
    );
  }

  /** The webhook of an attempt; `undefined` if the attempt no longer counts, or the webhook is inactive or deleted. */
  async findReceiver({ id, fence }: ClaimedDelivery): Promise<Webhook | undefined> {
    const delivery = await this.deliveries.findOne({
      where: { id, fence, status: 'pending', webhook: { active: true } },
      relations: { webhook: true },
    });
    return delivery?.webhook;
  }

  /** The body to send; `undefined` if the event is in neither the log nor the kept events. */
  async bodyOf({ body, position }: ClaimedDelivery): Promise<string | undefined> {
    if (body !== null || position === null) return body ?? undefined;
    const row = await this.events.find(position);
    return row && toJson({ ...row, id: idOf(row), source: this.config.publicUrl });
  }

  /**
   * Records the result of an attempt, for the delivery and for its webhook. It does not count after a redelivery, or
   * if the webhook got another URL or was deactivated meanwhile.
   */
  async settle(delivery: ClaimedDelivery, outcome: Outcome): Promise<void> {
    const { error, isFinal } = outcome;
    await this.transactions.run(async () => {
      if (isFinal) await this.record(delivery, outcome, 'failed');
      else if (error === null) await this.succeed(delivery, outcome);
      else await this.fail(delivery, outcome);
    });
  }

  private async succeed(delivery: ClaimedDelivery, outcome: Outcome): Promise<void> {
    await this.lock(delivery.webhookId, 'AND failing_since IS NOT NULL');
    if (!(await this.record(delivery, outcome, 'delivered'))) return;
    await this.transactions.execute(
      'UPDATE webhooks SET failing_since = NULL WHERE id = :id AND failing_since IS NOT NULL',
      { id: delivery.webhookId },
    );
  }

  private async fail(delivery: ClaimedDelivery, outcome: Outcome): Promise<void> {
    const { webhookId: id, attempts } = delivery;
    const { dialect } = this.queries;
    const now = this.clock.now();
    const isGone = outcome.status === 410;
    const nextAttemptAt = isGone ? null : nextAttempt(attempts, now);
    await this.lock(id);
    if (!(await this.record(delivery, outcome, nextAttemptAt ? 'pending' : 'failed', nextAttemptAt))) return;
    const [webhook] = await this.transactions.execute<{ failing_since: string }>(
      `UPDATE webhooks SET failing_since = coalesce(failing_since, ${dialect.toTimestamp(':now')})
       WHERE id = :id AND active RETURNING failing_since`,
      { id, now: now.toISOString() },
    );
    const isFailing = webhook && isFailingForGood(new Date(webhook.failing_since), now);
    if (isFailing || isGone) {
      await this.webhooks.update({ id, active: true }, { active: false, updatedAt: now });
      await this.giveUp(id);
    }
  }

  /** Locks a webhook that will change. Whatever changes both locks it before its deliveries, against deadlocks. */
  async lock(id: number, condition = ''): Promise<void> {
    const { lockRowsForUpdate } = this.queries.dialect;
    const sql = `SELECT id FROM webhooks WHERE id = :id ${condition} ${lockRowsForUpdate}`;
    await this.transactions.execute(sql, { id });
  }

  /** @returns whether the attempt is still the newest one of its delivery */
  private async record(
    { id, fence }: ClaimedDelivery,
    { status: responseStatus, error }: Outcome,
    status: DeliveryStatus,
    nextAttemptAt: Date | null = null,
  ): Promise<boolean> {
    const result = { responseStatus, error, status, nextAttemptAt, expiresAt: this.times().expiresAt };
    const { affected } = await this.deliveries.update({ id, fence, status: 'pending' }, result);
    return affected === 1;
  }

  /** Ignores the results of attempts in progress; they are repeated when their leases expire. */
  async forgetAttempts(webhookId: number): Promise<void> {
    await this.deliveries.update({ webhookId, status: 'pending' }, { fence: () => 'fence + 1' });
  }

  /** Ends the pending deliveries of a webhook. */
  async giveUp(webhookId: number): Promise<void> {
    await this.deliveries.update(
      { webhookId, status: 'pending' },
      { status: 'failed', nextAttemptAt: null, error: DEACTIVATED },
    );
  }

  private times(): { now: Date; expiresAt: Date } {
    const now = this.clock.now();
    const days = Math.max(KEPT_DAYS, this.config.eventsRetentionDays);
    return { now, expiresAt: new Date(now.getTime() + days * 24 * 3600_000) };
  }
}
