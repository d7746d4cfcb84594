import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../../platform/database/columns.js';
import { Account } from '../accounts/index.js';

/** What a token of a mail allows. */
export type TokenPurpose = 'verify-email' | 'change-email' | 'reset-password';

/** A token that was sent to an address; its holder can read the mails of that address. */
@Entity('account_tokens')
@Index('account_tokens_purpose', ['accountId', 'purpose'], { unique: true })
@Index('account_tokens_expires_at', ['expiresAt'])
export class AccountToken {
  /** SHA-256 of the token. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'account_tokens_account_id_fkey' })
  account?: Account;

  @TextColumn('purpose')
  purpose!: TokenPurpose;

  /** The recipient's address. */
  @TextColumn('email')
  email!: string;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
