import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { AppError } from '../platform/http/errors/errors.js';
import type { CursorPage, Page } from '../platform/http/pages/page.js';
import type { PageRequest } from '../platform/http/pages/page-request.js';
import { changesOf } from '../platform/database/columns.js';
import { Transactions } from '../platform/database/transactions.js';
import { Changes } from '../platform/changes/index.js';
import { Deliveries, type ListDeliveriesQuery } from './deliveries.js';
import type { CreateWebhookInput, UpdateWebhookInput } from './webhook.input.js';
import { Webhook } from './webhook.entity.js';
import type { WebhookDelivery } from './webhook-delivery.entity.js';
import { type Secrets, SECRETS, WebhookSecrets } from './webhook-secrets.js';

const MAX_WEBHOOKS = 100;
export const TOO_MANY = `There are ${MAX_WEBHOOKS} webhooks, which is the maximum; delete one first`;

export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

@Injectable()
export class WebhooksService {
  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly deliveries: Deliveries,
    private readonly secrets: WebhookSecrets,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly clock: Clock,
  ) {}

  async list(page: PageRequest): Promise<Page<Webhook>> {
    const total = await this.webhooks.count();
    const { limit, offset } = page;
    if (offset >= total) return page.of([], total);
    return page.of(await this.webhooks.find({ order: { id: 'ASC' }, skip: offset, take: limit }), total);
  }

  async get(id: number): Promise<Webhook> {
    const webhook = await this.webhooks.findOneBy({ id });
    if (!webhook) throw new AppError('NOT_FOUND', 'Webhook not found');
    return webhook;
  }

  async create({ url, types, description }: CreateWebhookInput): Promise<WebhookWithSecret> {
    const afterPosition = await this.deliveries.startPosition();
    const now = this.clock.now();
    return this.transactions.run(async () => {
      await this.deliveries.lockAll();
      if ((await this.webhooks.count()) >= MAX_WEBHOOKS) {
        throw new AppError('CONFLICT', TOO_MANY);
      }
      const { secret, columns } = this.secrets.first();
      const webhook = await this.webhooks.save(
        this.webhooks.create({
          url,
          types: [...new Set(types)],
          description: description ?? '',
          active: true,
          ...columns,
          afterPosition,
          failingSince: null,
          createdAt: now,
          updatedAt: now,
        }),
      );
      await this.changes.record({ subject: pathOf(webhook.id) });
      return { webhook, secret };
    });
  }

  async update(id: number, { url, types, description, active }: UpdateWebhookInput): Promise<Webhook> {
    await this.transactions.run(async () => {
      await this.deliveries.lock(id);
      const before = await this.get(id);
      const begins = active === true && !before.active;
      const afterPosition = begins ? await this.deliveries.startPosition() : undefined;
      await this.webhooks.update(id, {
        ...changesOf(this.webhooks, { url, types: types && [...new Set(types)], description, active }),
        ...(afterPosition !== undefined && { afterPosition }),
        // The failures of another address do not count.
        ...((begins || url != null) && { failingSince: null }),
        updatedAt: this.clock.now(),
      });
      if (active === false) await this.deliveries.giveUp(id);
      else if (url != null && url !== before.url) await this.deliveries.forgetAttempts(id);
      await this.changes.record({ subject: pathOf(id) });
    });
    return this.get(id);
  }

  async delete(id: number): Promise<void> {
    await this.transactions.run(async () => {
      const { affected } = await this.webhooks.delete({ id });
      if (affected === 0) await this.get(id);
      await this.changes.record({ subject: pathOf(id) });
    });
  }

  /** Each replaced secret still signs for 24 hours. */
  async rotateSecret(id: number): Promise<WebhookWithSecret> {
    const now = this.clock.now();
    return this.transactions.run(async () => {
      // It locks the row: of two concurrent rotations, the second keeps the secret of the first.
      await this.webhooks.update(id, { updatedAt: now });
      const webhook = await this.get(id);
      const former = await this.webhooks.findOneOrFail({ where: { id }, select: SECRETS });
      const { secret, columns } = await this.secrets.rotate(former as Secrets, now);
      await this.webhooks.update(id, columns);
      await this.changes.record({ subject: `${pathOf(id)}/rotate-secret` });
      return { webhook, secret };
    });
  }

  test(id: number): Promise<WebhookDelivery> {
    return this.transactions.run(async () => {
      const added = await this.deliveries.addTest(await this.lockActive(id));
      await this.changes.record({ subject: `${pathOf(id)}/test` });
      return added;
    });
  }

  /** The newest first. */
  async listDeliveries(id: number, query: ListDeliveriesQuery): Promise<CursorPage<WebhookDelivery>> {
    await this.get(id);
    return this.deliveries.list(id, query);
  }

  async redeliver(id: number, deliveryId: number): Promise<WebhookDelivery> {
    return this.transactions.run(async () => {
      await this.lockActive(id);
      const delivery = await this.deliveries.find(id, deliveryId);
      if (!delivery) throw new AppError('NOT_FOUND', 'Delivery not found');
      await this.deliveries.restart(delivery);
      await this.changes.record({ subject: `${pathOf(id)}/deliveries/${deliveryId}/redeliver` });
      return (await this.deliveries.find(id, deliveryId)) ?? delivery;
    });
  }

  private async lockActive(id: number): Promise<Webhook> {
    await this.deliveries.lockShared(id);
    const webhook = await this.get(id);
    if (!webhook.active) throw new AppError('CONFLICT', 'The webhook is inactive; activate it first');
    return webhook;
  }
}

const pathOf = (id: number): string => `/v1/webhooks/${id}`;
