import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { IntegerColumn, TextColumn } from '../../platform/database/columns.js';
import { Account } from '../accounts/index.js';

/** A code that replaces one of the authenticator app, once. */
@Entity('recovery_codes')
@Index('recovery_codes_account_id', ['accountId'])
export class RecoveryCode {
  /** SHA-256 of the code. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'recovery_codes_account_id_fkey' })
  account?: Account;
}
