import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { JsonText } from '../platform/http/json-text.js';
import { Int64Property, TimestampProperty } from '../platform/http/openapi/properties.js';
import type { Order } from './order.entity.js';

export const ORDERS_PATH = '/v1/orders';

/** Any JSON object, for the reference. */
export const ANY_OBJECT = { type: 'object', additionalProperties: true, example: { item: 'Tea' } } as const;

@ApiSchema({ name: 'Order' })
export class OrderView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ type: 'string', enum: ['created'] })
  readonly status!: 'created';

  @ApiProperty({ ...ANY_OBJECT, description: 'Exactly as it was sent.' })
  readonly payload!: JsonText;

  @TimestampProperty()
  readonly created_at!: string;
}

export const toOrderView = ({ id, status, payload, createdAt }: Order): OrderView => ({
  id,
  status,
  payload: new JsonText(payload),
  created_at: createdAt.toISOString(),
});
