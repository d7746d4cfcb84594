import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import {
  BooleanColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../../platform/database/columns.js';
import { Account } from '../account.entity.js';

/** A discoverable credential of WebAuthn. */
@Entity('passkeys')
@Index('passkeys_credential_id', ['credentialId'], { unique: true })
@Index('passkeys_account_id', ['accountId'])
export class Passkey {
  @IdColumn()
  id!: number;

  @IntegerColumn('account_id')
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'passkeys_account_id_fkey' })
  account?: Account;

  /** In base64url. */
  @TextColumn('credential_id')
  credentialId!: string;

  /** A COSE key, in base64url. */
  @TextColumn('public_key')
  publicKey!: string;

  /** Of the authenticator: it grows with each use, unless it is always 0. */
  @IntegerColumn('counter')
  counter!: number;

  /** A JSON array: how a browser reaches the authenticator. */
  @TextColumn('transports')
  transports!: string;

  @TextColumn('name')
  name!: string;

  /** Whether it was added before the owner of the account was confirmed: whoever added it may not own the address. */
  @BooleanColumn('added_unconfirmed', { default: false })
  addedUnconfirmed!: boolean;

  @TimestampColumn('created_at')
  createdAt!: Date;

  @TimestampColumn('last_used_at', { nullable: true })
  lastUsedAt!: Date | null;
}
