import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThan, Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { Signal } from '../platform/jobs/signal.js';
import { Config } from '../platform/config/config.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { EventLog, toJson } from '../platform/changes/index.js';
import { CursorPage } from '../platform/http/pages/page.js';
import { CursorRequest } from '../platform/http/pages/page-request.js';
import { QueryField } from '../platform/http/validation/fields.js';
import { Webhook } from './webhook.entity.js';
import { TEST_TYPE, toWebhookView } from './webhook.view.js';
import { DELIVERY_STATUSES, WebhookDelivery } from './webhook-delivery.entity.js';

/** How long a delivery is kept after its last attempt, at least as long as events, in days. */
const KEPT_DAYS = 7;

const DEACTIVATED = 'The webhook was deactivated';

export class ListDeliveriesQuery extends CursorRequest {
  @QueryField({
    type: 'string',
    enum: DELIVERY_STATUSES,
    description: 'Any other value returns an empty list; an empty one counts as absent.',
  })
  readonly status?: string;
}

/** The deliveries of webhooks. Whatever changes a webhook and its deliveries locks the webhook first, against deadlocks. */
@Injectable()
export class Deliveries {
  /** Sent after the commit of a delivery that is due. */
  readonly due = new Signal(new Logger('Webhooks'));

  constructor(
    @InjectRepository(WebhookDelivery) private readonly rows: Repository<WebhookDelivery>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly log: EventLog,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Call it in a unit of work that adds deliveries. */
  reportDue(): void {
    this.transactions.onCommit(() => this.due.send());
  }

  /** Until the end of the unit of work, nobody else changes the webhook. */
  async lock(id: number, condition = ''): Promise<void> {
    const { lockRowsForUpdate } = this.queries.dialect;
    const sql = `SELECT id FROM webhooks WHERE id = :id ${condition} ${lockRowsForUpdate}`;
    await this.transactions.execute(sql, { id });
  }

  /** Until the end of the unit of work, the webhook stays as it is: nothing would send a delivery of an inactive one. */
  async lockShared(id: number): Promise<void> {
    const sql = `SELECT id FROM webhooks WHERE id = :id ${this.queries.dialect.lockRows}`;
    await this.transactions.execute(sql, { id });
  }

  /** Until the end of the unit of work, nobody else adds a webhook. */
  async lockAll(): Promise<void> {
    await this.transactions.execute(this.queries.dialect.lockTable('webhooks'));
  }

  /** The position after which a webhook that becomes active now gets events. */
  startPosition(): Promise<number> {
    return this.log.catchUp();
  }

  /** When a delivery expires whose last attempt was made, or which was added. */
  expiryAt(time: Date): Date {
    const days = Math.max(KEPT_DAYS, this.config.eventsRetentionDays);
    return new Date(time.getTime() + days * 24 * 3600_000);
  }

  /** The newest first. */
  async list(webhookId: number, query: ListDeliveriesQuery): Promise<CursorPage<WebhookDelivery>> {
    const { afterId, limit } = query;
    const where = query.status
      ? { id: In(await this.idsWith(query.status, webhookId, query)) }
      : { webhookId, ...(afterId > 0 && { id: LessThan(afterId) }) };
    return CursorPage.of(await this.rows.find({ where, order: { id: 'DESC' }, take: limit + 1 }), limit);
  }

  /** It may read all deliveries of the webhook, so it does not delay other requests. */
  private async idsWith(
    status: string,
    webhookId: number,
    { afterId, limit }: CursorRequest,
  ): Promise<number[]> {
    if (!DELIVERY_STATUSES.some((known) => known === status)) return [];
    const before = afterId > 0 ? afterId : Number.MAX_SAFE_INTEGER;
    const rows = await this.queries.search<{ id: number }>(
      `SELECT id FROM webhook_deliveries
       WHERE webhook_id = :webhookId AND status = :status AND id < :before AND ${this.queries.dialect.withinDeadline}
       ORDER BY id DESC LIMIT :limit`,
      { webhookId, status, before, limit: limit + 1 },
    );
    return rows.map(({ id }) => id);
  }

  find(webhookId: number, id: number): Promise<WebhookDelivery | null> {
    return this.rows.findOneBy({ id, webhookId });
  }

  /** Adds an event of {@link TEST_TYPE}, which is not in the log. */
  addTest(webhook: Webhook): Promise<WebhookDelivery> {
    const now = this.clock.now();
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
    this.reportDue();
    return this.rows.save(
      this.rows.create({
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
        expiresAt: this.expiryAt(now),
      }),
    );
  }

  async restart({ id }: WebhookDelivery): Promise<void> {
    const now = this.clock.now();
    this.reportDue();
    await this.rows.update(id, {
      status: 'pending',
      attempts: 0,
      claims: 0,
      // The result of an attempt in progress is ignored.
      fence: () => 'fence + 1',
      nextAttemptAt: now,
      responseStatus: null,
      error: null,
      expiresAt: this.expiryAt(now),
    });
  }

  /** Ignores the results of attempts in progress; they are repeated when their leases expire. */
  async forgetAttempts(webhookId: number): Promise<void> {
    await this.rows.update({ webhookId, status: 'pending' }, { fence: () => 'fence + 1', claims: 0 });
  }

  async giveUp(webhookId: number): Promise<void> {
    await this.rows.update(
      { webhookId, status: 'pending' },
      { status: 'failed', nextAttemptAt: null, error: DEACTIVATED },
    );
  }
}
