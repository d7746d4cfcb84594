import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { HiddenColumn, IntegerColumn, TextColumn, TimestampColumn } from '../platform/database/columns.js';
import type { SessionKind } from '../platform/access/index.js';
import { Account } from './account.entity.js';

/**
 * A session of an account: by cookie, or a family of tokens. Of a family, the row has the ids of
 * the current refresh token and of its predecessor; any other refresh token of the family has been
 * used.
 */
@Entity('sessions')
@Index('sessions_account_id', ['accountId'])
@Index('sessions_expires_at', ['expiresAt'])
export class Session {
  /** The claim `sid`. It is not secret: the account's owner sees it in the list of sessions. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'sessions_account_id_fkey' })
  account?: Account;

  @TextColumn('kind')
  kind!: SessionKind;

  @HiddenColumn('refresh_jti', { nullable: true })
  refreshJti?: string | null;

  /** The predecessor of the current refresh token, which was exchanged for it at `lastUsedAt`. */
  @HiddenColumn('previous_jti', { nullable: true })
  previousJti?: string | null;

  /** SHA-256 of the secret in the cookie. */
  @HiddenColumn('secret_hash', { nullable: true })
  secretHash?: string | null;

  @TextColumn('address')
  address!: string;

  @TextColumn('agent')
  agent!: string;

  @TimestampColumn('created_at')
  createdAt!: Date;

  /** When its password or second factor was checked last; null: when it was created. */
  @TimestampColumn('authenticated_at', { nullable: true })
  authenticatedAt!: Date | null;

  @TimestampColumn('last_used_at')
  lastUsedAt!: Date;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
