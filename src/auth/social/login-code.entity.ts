import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../../platform/database/columns.js';
import { Account } from '../accounts/index.js';

/** A one-time code that a front end exchanges for tokens. */
@Entity('login_codes')
@Index('login_codes_account_id', ['accountId'])
@Index('login_codes_expires_at', ['expiresAt'])
export class LoginCode {
  /** SHA-256 of the code. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'login_codes_account_id_fkey' })
  account?: Account;

  /** The `code_challenge` (S256, RFC 7636) of the client that may exchange the code; null if it sent none. */
  @TextColumn('code_challenge', { nullable: true })
  codeChallenge!: string | null;

  /** A change of the password ends the login. */
  @TimestampColumn('password_changed_at', { nullable: true })
  passwordChangedAt!: Date | null;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
