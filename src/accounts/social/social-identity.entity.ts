import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import {
  BooleanColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../../platform/database/columns.js';
import { Account } from '../account.entity.js';

/** A user at a provider, and the account that the identity logs in to. */
@Entity('social_identities')
@Index('social_identities_provider_subject', ['provider', 'subject'], { unique: true })
@Index('social_identities_account_id', ['accountId'])
export class SocialIdentity {
  @IdColumn()
  id!: number;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'social_identities_account_id_fkey' })
  account?: Account;

  @TextColumn('provider')
  provider!: string;

  /** The provider's permanent user id. */
  @TextColumn('subject')
  subject!: string;

  /** Whether it was added before the owner of the account was confirmed: whoever added it may not own the address. */
  @BooleanColumn('added_unconfirmed', { default: false })
  addedUnconfirmed!: boolean;

  @TimestampColumn('created_at')
  createdAt!: Date;
}
