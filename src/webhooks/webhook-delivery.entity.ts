import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { IdColumn, IntegerColumn, TextColumn, TimestampColumn } from '../platform/database/columns.js';
import { Webhook } from './webhook.entity.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

@Entity('webhook_deliveries')
@Index('webhook_deliveries_event', ['webhookId', 'eventId'], { unique: true })
@Index('webhook_deliveries_list', ['webhookId', 'id'])
@Index('webhook_deliveries_due', ['webhookId', 'status', 'nextAttemptAt'])
@Index('webhook_deliveries_pending', ['createdAt'], { where: `status = 'pending'` })
@Index('webhook_deliveries_expires_at', ['expiresAt'])
@Index('webhook_deliveries_position', ['position'])
export class WebhookDelivery {
  @IdColumn()
  id!: number;

  @IntegerColumn('webhook_id')
  webhookId!: number;

  @ManyToOne(() => Webhook, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'webhook_id', foreignKeyConstraintName: 'webhook_deliveries_webhook_id_fkey' })
  webhook?: Webhook;

  @TextColumn('event_id')
  eventId!: string;

  /** The position of the event; null for a test, whose body is stored here. */
  @IntegerColumn('position', { nullable: true })
  position!: number | null;

  @TextColumn('body', { nullable: true })
  body!: string | null;

  @TextColumn('type')
  type!: string;

  @TextColumn('status')
  status!: DeliveryStatus;

  @IntegerColumn('attempts')
  attempts!: number;

  /** How many times it was claimed since its last result: a process that is killed leaves none. */
  @IntegerColumn('claims', { default: 0 })
  claims!: number;

  /** Incremented by each claim and restart: only the result of the newest attempt counts. */
  @IntegerColumn('fence', { default: 0 })
  fence!: number;

  /** During an attempt: when another process may take it over. */
  @TimestampColumn('next_attempt_at', { nullable: true })
  nextAttemptAt!: Date | null;

  @IntegerColumn('response_status', { nullable: true })
  responseStatus!: number | null;

  @TextColumn('error', { nullable: true })
  error!: string | null;

  @TimestampColumn('created_at')
  createdAt!: Date;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
