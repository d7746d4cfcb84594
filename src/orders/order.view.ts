import { Field, ID, ObjectType } from '@nestjs/graphql';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { JsonText } from '../platform/http/json-text.js';
import { Int64Property, TimestampProperty } from '../platform/http/openapi/properties.js';
import type { Order, OrderSummary } from './order.entity.js';

export const ORDERS_PATH = '/v1/orders';

/** Any JSON object, for the reference. */
export const ANY_OBJECT = { type: 'object', additionalProperties: true, example: { item: 'Tea' } } as const;

/** An order for clients of REST and GraphQL. */
@ApiSchema({ name: 'Order' })
@ObjectType('Order', { description: 'An order; only those who may read it find it.' })
export class OrderView {
  @Field(() => ID, { description: 'Identifies the order.' })
  @Int64Property({ example: 1 })
  readonly id!: number;

  @Field(() => String, { description: '`created`.' })
  @ApiProperty({ type: 'string', enum: ['created'] })
  readonly status!: 'created';

  /** In GraphQL, `OrdersResolver` loads it. */
  @ApiProperty({ ...ANY_OBJECT, description: 'Exactly as it was sent.' })
  readonly payload!: JsonText;

  @Field(() => Date, { name: 'createdAt', description: 'When the order was created.' })
  @TimestampProperty()
  readonly created_at!: string;
}

export const toOrderView = ({ id, status, payload, createdAt }: Order): OrderView => ({
  id,
  status,
  payload: new JsonText(payload),
  created_at: createdAt.toISOString(),
});

/** An order for the fields of GraphQL, which load its payload where it is missing. */
export type OrderNode = OrderView | (Omit<OrderView, 'payload'> & { readonly payload_bytes: number });

export const toOrderNode = ({ id, status, payloadBytes, createdAt }: OrderSummary): OrderNode => ({
  id,
  status,
  payload_bytes: payloadBytes,
  created_at: createdAt.toISOString(),
});
