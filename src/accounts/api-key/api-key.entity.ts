import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import {
  HiddenColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../../platform/database/columns.js';
import type { ApiKeyScope } from '../../platform/access/index.js';
import { Account } from '../account.entity.js';

/** A key with which a program acts as an account. */
@Entity('api_keys')
@Index('api_keys_key_hash', ['keyHash'], { unique: true })
@Index('api_keys_account_id', ['accountId'])
export class ApiKey {
  @IdColumn()
  id!: number;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'api_keys_account_id_fkey' })
  account?: Account;

  @TextColumn('name')
  name!: string;

  /** The beginning of the key, by which its owner recognizes it. */
  @TextColumn('prefix')
  prefix!: string;

  @TextColumn('scope')
  scope!: ApiKeyScope;

  /** SHA-256 of the key. */
  @HiddenColumn('key_hash')
  keyHash?: string;

  @TimestampColumn('created_at')
  createdAt!: Date;

  /** To the minute. */
  @TimestampColumn('last_used_at', { nullable: true })
  lastUsedAt!: Date | null;

  @TimestampColumn('expires_at', { nullable: true })
  expiresAt!: Date | null;
}
