import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { IdColumn, IntegerColumn, TextColumn, TimestampColumn } from '../database/columns.js';
import { Webhook } from './webhook.entity.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An event on its way to a webhook. */
@Entity('webhook_deliveries')
@Index('webhook_deliveries_event', ['webhookId', 'eventId'], { unique: true })
@Index('webhook_deliveries_list', ['webhookId', 'id'])
@Index('webhook_deliveries_due', ['webhookId', 'status', 'nextAttemptAt'])
@Index('webhook_deliveries_pending', ['createdAt'], { where: `status = 'pending'` })
@Index('webhook_deliveries_expires_at', ['expiresAt'])
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

  /** Of the event in the log; null where the body is kept here. */
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

  /** Grows with each attempt and each restart: what comes of an attempt counts only while it is the newest. */
  @IntegerColumn('fence', { default: 0 })
  fence!: number;

  /** While an attempt is under way: when another process may take it over. */
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
