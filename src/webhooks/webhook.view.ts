import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { EVENT_TYPE } from '../events/event.view.js';
import { Int64Property, TimestampProperty } from '../platform/http/openapi/properties.js';
import type { Webhook } from './webhook.entity.js';
import { DELIVERY_STATUSES, type DeliveryStatus, type WebhookDelivery } from './webhook-delivery.entity.js';

/** The type of the event that tests a webhook. It is not part of the log. */
export const TEST_TYPE = 'webhook.test';

/** The name of the schema with the types of events that a webhook gets, which `describeWebhooks` fills. */
export const WEBHOOK_EVENT_TYPE = 'WebhookEventType';

export const WebhookTypesProperty = (example: readonly string[]): PropertyDecorator =>
  ApiProperty({
    enum: [],
    enumName: WEBHOOK_EVENT_TYPE,
    isArray: true,
    description: 'Types of events, or `*` alone.',
    example,
  });

@ApiSchema({ name: 'Webhook' })
export class WebhookView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'https://receiver.example.com/events' })
  readonly url!: string;

  @WebhookTypesProperty(['post.created'])
  readonly types!: readonly string[];

  @ApiProperty({ example: 'Search index' })
  readonly description!: string;

  @ApiProperty({ type: 'boolean' })
  readonly active!: boolean;

  @TimestampProperty()
  readonly created_at!: string;

  @TimestampProperty()
  readonly updated_at!: string;
}

@ApiSchema({ name: 'WebhookWithSecret' })
export class WebhookWithSecretView extends WebhookView {
  @ApiProperty({ description: 'Verifies the signatures; shown only once.', example: 'whsec_…' })
  readonly secret!: string;
}

@ApiSchema({ name: 'WebhookDelivery' })
export class WebhookDeliveryView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ description: 'The `webhook-id` of every attempt.', example: '5f1d7c8e9a0b-42' })
  readonly event_id!: string;

  @ApiProperty({ enum: [], enumName: EVENT_TYPE })
  readonly type!: string;

  @ApiProperty({ enum: DELIVERY_STATUSES })
  readonly status!: DeliveryStatus;

  @ApiProperty({ type: 'integer', example: 1 })
  readonly attempts!: number;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  readonly next_attempt_at!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Of the last attempt.', example: 200 })
  readonly response_status!: number | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Of the last attempt.', example: null })
  readonly error!: string | null;

  @TimestampProperty()
  readonly created_at!: string;
}

export const toWebhookView = (webhook: Webhook): WebhookView => ({
  id: webhook.id,
  url: webhook.url,
  types: webhook.types,
  description: webhook.description,
  active: webhook.active,
  created_at: webhook.createdAt.toISOString(),
  updated_at: webhook.updatedAt.toISOString(),
});

export const toWebhookWithSecretView = ({
  webhook,
  secret,
}: {
  readonly webhook: Webhook;
  readonly secret: string;
}): WebhookWithSecretView => Object.assign(toWebhookView(webhook), { secret });

export const toDeliveryView = (delivery: WebhookDelivery): WebhookDeliveryView => ({
  id: delivery.id,
  event_id: delivery.eventId,
  type: delivery.type,
  status: delivery.status,
  attempts: delivery.attempts,
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  response_status: delivery.responseStatus,
  error: delivery.error,
  created_at: delivery.createdAt.toISOString(),
});
