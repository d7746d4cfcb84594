import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { Deliveries } from './deliveries.js';
import { Webhook } from './webhook.entity.js';
import { type Secrets, SECRETS } from './webhook-secrets.js';
import { type DeliveryStatus, WebhookDelivery } from './webhook-delivery.entity.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * How long the lease of a delivery lasts, in milliseconds; longer than any attempt. It is longer after claims without a
 * result: a delivery that kills each process must not be the first one that the next process claims.
 */
const LEASES = [30 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR];

/** The delay before each further attempt, in milliseconds; up to a tenth is added. */
const DELAYS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR];
const JITTER = 0.1;

/** How long all attempts must have failed before a webhook is deactivated, in milliseconds. */
const MAX_FAILING = 5 * DAY;

/** A delivery that this process attempts. Its `fence` is the fencing token of the lease. */
export interface ClaimedDelivery {
  readonly id: number;
  readonly webhookId: number;
  readonly eventId: string;
  readonly position: number | null;
  readonly body: string | null;
  /** Those that have a result. */
  readonly attempts: number;
  readonly fence: number;
}

export interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
  /** Nothing was sent, and nothing ever can be; it does not count as a failure of the webhook. */
  readonly isFinal?: true;
}

/** The pending deliveries, and the results of their attempts. */
@Injectable()
export class DeliveryQueue {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    @InjectRepository(WebhookDelivery) private readonly rows: Repository<WebhookDelivery>,
    private readonly deliveries: Deliveries,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes one due delivery of each webhook, the oldest first: a slow receiver delays no other.
   *
   * @param running the number of attempts in progress, by webhook
   * @param maximum the most attempts in progress for one webhook; it is one while the webhook is failing
   */
  async claim(running: ReadonlyMap<number, number>, maximum: number): Promise<ClaimedDelivery[]> {
    const now = this.clock.now();
    const busy = [...running].filter(([, count]) => count >= maximum).map(([id]) => id);
    const { dialect } = this.queries;
    const due = await this.queries.all<{ id: number | null }>(
      `SELECT (
         SELECT id FROM webhook_deliveries AS delivery
         WHERE delivery.webhook_id = webhooks.id AND delivery.status = 'pending' AND delivery.next_attempt_at <= :now
         ORDER BY delivery.next_attempt_at, delivery.id LIMIT 1
       ) AS id
       FROM webhooks WHERE active AND id NOT IN (${dialect.integersOf(':busy')})
         AND (failing_since IS NULL OR id NOT IN (${dialect.integersOf(':running')}))`,
      {
        now: now.toISOString(),
        busy: JSON.stringify(busy),
        running: JSON.stringify([...running.keys()]),
      },
    );
    const ids = due.map(({ id }) => id).filter((id) => id !== null);
    if (ids.length === 0) return [];
    const last = LEASES.length - 1;
    const cases = LEASES.slice(0, last).map((_, claims) => `WHEN ${claims} THEN :lease${claims}`);
    const lease = `CASE claims ${cases.join(' ')} ELSE :lease${last} END`;
    const leases = LEASES.map((length) => new Date(now.getTime() + length).toISOString());
    return this.transactions.execute<ClaimedDelivery>(
      `UPDATE webhook_deliveries SET claims = claims + 1, fence = fence + 1, next_attempt_at = ${dialect.toTimestamp(lease)}
       WHERE id IN (
         SELECT id FROM webhook_deliveries
         WHERE id IN (${dialect.integersOf(':ids')}) AND status = 'pending' AND next_attempt_at <= :now
         ${dialect.lockFreeRows}
       )
       RETURNING id, webhook_id AS "webhookId", event_id AS "eventId", position, body, attempts, fence`,
      {
        ids: JSON.stringify(ids),
        now: now.toISOString(),
        ...Object.fromEntries(leases.map((time, claims) => [`lease${claims}`, time])),
      },
    );
  }

  /** The webhook of an attempt; `undefined` if the attempt no longer counts, or the webhook is inactive or deleted. */
  async findReceiver({
    id,
    fence,
  }: ClaimedDelivery): Promise<(Secrets & { readonly url: string }) | undefined> {
    const delivery = await this.rows.findOne({
      where: { id, fence, status: 'pending', webhook: { active: true } },
      relations: { webhook: true },
      select: { id: true, webhook: { url: true, ...SECRETS } },
    });
    return delivery?.webhook as (Secrets & { readonly url: string }) | undefined;
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
    await this.deliveries.lock(delivery.webhookId, 'AND failing_since IS NOT NULL');
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
    const nextAttemptAt = isGone ? null : nextAttempt(attempts + 1, now);
    await this.deliveries.lock(id);
    if (!(await this.record(delivery, outcome, nextAttemptAt ? 'pending' : 'failed', nextAttemptAt))) return;
    const [webhook] = await this.transactions.execute<{ failing_since: string }>(
      `UPDATE webhooks SET failing_since = coalesce(failing_since, ${dialect.toTimestamp(':now')})
       WHERE id = :id AND active RETURNING failing_since`,
      { id, now: now.toISOString() },
    );
    const hasFailedFor = webhook ? now.getTime() - Date.parse(webhook.failing_since) : 0;
    if (isGone || hasFailedFor >= MAX_FAILING) {
      await this.webhooks.update({ id, active: true }, { active: false, updatedAt: now });
      await this.deliveries.giveUp(id);
    }
  }

  /** @returns whether the attempt is still the newest one of its delivery */
  private async record(
    { id, fence, attempts }: ClaimedDelivery,
    { status: responseStatus, error }: Outcome,
    status: DeliveryStatus,
    nextAttemptAt: Date | null = null,
  ): Promise<boolean> {
    const expiresAt = this.deliveries.expiryAt(this.clock.now());
    const counts = { attempts: attempts + 1, claims: 0 };
    const result = { ...counts, responseStatus, error, status, nextAttemptAt, expiresAt };
    const { affected } = await this.rows.update({ id, fence, status: 'pending' }, result);
    return affected === 1;
  }
}

/** The time of the next attempt after some failed ones; null after the last. */
function nextAttempt(attempts: number, now: Date): Date | null {
  const delay = DELAYS[attempts - 1];
  return delay === undefined ? null : new Date(now.getTime() + delay * (1 + Math.random() * JITTER));
}
