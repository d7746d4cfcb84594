import 'fastify';
import { Entity, Index } from 'typeorm';
import {
  BooleanColumn,
  HiddenColumn,
  IdColumn,
  TextColumn,
  TimestampColumn,
} from '../platform/database/columns.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The calling account, as Passport sets it; `null` without credentials, `undefined` before authentication. */
    user?: Account | null;
  }
}

export type Role = 'admin' | 'user';

/** Somebody who can log in. Not a public profile: those are users. */
@Entity('accounts')
@Index('accounts_email_key', ['emailKey'], { unique: true })
@Index('accounts_verify_until', ['verifyUntil'])
export class Account {
  @IdColumn()
  id!: number;

  /** Normalized, in the letter case of the registration. */
  @TextColumn('email')
  email!: string;

  /** The address in lower case; unique. */
  @HiddenColumn('email_key')
  emailKey?: string;

  @TextColumn('name')
  name!: string;

  /** The name as `caseFold` writes it. */
  @HiddenColumn('name_folded')
  nameFolded?: string;

  @TextColumn('phone')
  phone!: string;

  /** Argon2id, as a PHC string. */
  @HiddenColumn('password_hash')
  passwordHash?: string;

  /** Changes with the password, strictly forward, so that passwords can be compared without their hashes. */
  @TimestampColumn('password_changed_at')
  passwordChangedAt!: Date;

  /** An inactive account cannot log in, and its tokens and sessions are invalid. */
  @BooleanColumn('is_active')
  isActive!: boolean;

  @BooleanColumn('is_staff')
  isStaff!: boolean;

  @BooleanColumn('is_superuser')
  isSuperuser!: boolean;

  @BooleanColumn('is_email_verified')
  isEmailVerified!: boolean;

  /** Whether the owner of the address is known to use the account: others may have registered it. */
  @BooleanColumn('is_owner_confirmed', { default: false })
  isOwnerConfirmed!: boolean;

  /** Whether a login by password or social login needs a code as well. */
  @BooleanColumn('has_second_factor', { default: false })
  hasSecondFactor!: boolean;

  /** When the account is deleted unless its e-mail is verified before; null once it is, or if that is not required. */
  @TimestampColumn('verify_until', { nullable: true })
  verifyUntil!: Date | null;

  @TimestampColumn('date_joined')
  dateJoined!: Date;

  /** When its last login began; null if there was none. */
  @TimestampColumn('last_login_at', { nullable: true })
  lastLoginAt!: Date | null;

  /** As in the access token. */
  get role(): Role {
    return this.isStaff ? 'admin' : 'user';
  }
}

/** A hash that no password matches: comparing with it takes as long as with a real one. */
export const NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
