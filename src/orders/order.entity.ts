import { Entity, Index, JoinColumn, ManyToOne, VersionColumn } from 'typeorm';
import { Account } from '../accounts/account.entity.js';
import { IdColumn, IntegerColumn, TextColumn, TimestampColumn } from '../platform/database/columns.js';

@Entity('orders')
@Index('orders_created_at', ['createdAt', 'id'])
@Index('orders_account_created_at', ['accountId', 'createdAt', 'id'])
export class Order {
  @IdColumn()
  id!: number;

  /** The account that created it; null in open mode, and after the account was deleted. */
  @IntegerColumn('account_id', { nullable: true })
  accountId!: number | null;

  @ManyToOne(() => Account, { nullable: true, onDelete: 'SET NULL' })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'orders_account_id_fkey' })
  account?: Account | null;

  @TextColumn('status')
  status!: 'created';

  /** A JSON object, unchanged. */
  @TextColumn('payload')
  payload!: string;

  @TimestampColumn('created_at')
  createdAt!: Date;

  /** Grows with every write, see `migrations/row-versions.ts`. */
  @VersionColumn({ default: 1 })
  version!: number;
}
