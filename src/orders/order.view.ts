import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { JsonText } from '../common/http/json-text.js';
import { Int64Property, TimestampProperty } from '../common/openapi/properties.js';
import type { Order } from './order.entity.js';

/** Any JSON object, for the reference. */
export const ANY_OBJECT = { type: 'object', additionalProperties: true, example: { item: 'Tea' } } as const;

/** An order for clients. */
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

/** The columns of the view, for statements and events. */
export const ORDER_COLUMNS = {
  id: 'value',
  status: 'value',
  payload: 'json',
  created_at: 'moment',
} as const satisfies Record<keyof OrderView, string>;

export const toOrderView = ({ id, status, payload, createdAt }: Order): OrderView => ({
  id,
  status,
  payload: new JsonText(payload),
  created_at: createdAt.toISOString(),
});
