import { Entity, Index } from 'typeorm';
import { IdColumn, TextColumn, TimestampColumn } from '../database/columns.js';

@Entity('orders')
@Index('orders_created_at', ['createdAt', 'id'])
export class Order {
  @IdColumn()
  id!: number;

  @TextColumn('status')
  status!: 'created';

  /** A JSON object, as it was sent. */
  @TextColumn('payload')
  payload!: string;

  @TimestampColumn('created_at')
  createdAt!: Date;
}
