import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../../platform/database/columns.js';
import { Account } from '../accounts/index.js';

/** A login whose first step has succeeded, and that waits for a code. */
@Entity('login_challenges')
@Index('login_challenges_account_id', ['accountId'])
@Index('login_challenges_expires_at', ['expiresAt'])
export class LoginChallenge {
  /** SHA-256 of the `mfa_token`. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'login_challenges_account_id_fkey' })
  account?: Account;

  /** A change of the password ends the login. */
  @TimestampColumn('password_changed_at')
  passwordChangedAt!: Date;

  /** The `code_challenge` (S256, RFC 7636) of the client that may complete the login; null if it needs none. */
  @TextColumn('code_challenge', { nullable: true })
  codeChallenge!: string | null;

  /** How many codes were tried. */
  @IntegerColumn('attempts')
  attempts!: number;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
