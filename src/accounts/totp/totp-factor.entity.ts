import { Entity, JoinColumn, OneToOne } from 'typeorm';
import {
  BooleanColumn,
  HiddenColumn,
  IntegerColumn,
  TimestampColumn,
} from '../../platform/database/columns.js';
import { Account } from '../account.entity.js';

/** The authenticator app of an account. */
@Entity('totp_factors')
export class TotpFactor {
  @IntegerColumn('account_id', { primary: true })
  accountId!: number;

  @OneToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'totp_factors_account_id_fkey' })
  account?: Account;

  /** Base32, encrypted: codes are computed from it. */
  @HiddenColumn('secret')
  secret?: string;

  /** The time step (RFC 6238) of the last accepted code: no code of it or an earlier one is accepted. */
  @IntegerColumn('last_step')
  lastStep!: number;

  /** Null until the owner has entered a first code: then logins need none. */
  @TimestampColumn('confirmed_at', { nullable: true })
  confirmedAt!: Date | null;

  /** Of those entered for the first code. */
  @IntegerColumn('wrong_codes', { default: 0 })
  wrongCodes!: number;

  /** Whether it was added before the owner of the account was confirmed: whoever added it may not own the address. */
  @BooleanColumn('added_unconfirmed', { default: false })
  addedUnconfirmed!: boolean;

  @TimestampColumn('created_at')
  createdAt!: Date;
}
