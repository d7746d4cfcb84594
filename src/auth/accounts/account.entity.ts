import { Entity, Index } from 'typeorm';
import { BooleanColumn, IdColumn, TextColumn, TimestampColumn } from '../../database/columns.js';

/** Someone who can log in. Not a public profile: those are users. */
@Entity('accounts')
@Index('accounts_email_key', ['emailKey'], { unique: true })
export class Account {
  @IdColumn()
  id!: number;

  /** Normalized, in the letter case that it was registered in. */
  @TextColumn('email')
  email!: string;

  /** The address without regard to letter case, by which it is unique and found. */
  @TextColumn('email_key')
  emailKey!: string;

  @TextColumn('name')
  name!: string;

  @TextColumn('phone')
  phone!: string;

  /** Argon2id, as a PHC string. Never leaves the service. */
  @TextColumn('password_hash')
  passwordHash!: string;

  /** Tells passwords apart without looking at them; strictly forward with each change. */
  @TimestampColumn('password_changed_at')
  passwordChangedAt!: Date;

  /** Without it, the account can neither log in nor use what it has got by logging in. */
  @BooleanColumn('is_active')
  isActive!: boolean;

  @BooleanColumn('is_staff')
  isStaff!: boolean;

  @BooleanColumn('is_superuser')
  isSuperuser!: boolean;

  @BooleanColumn('is_email_verified')
  isEmailVerified!: boolean;

  @TimestampColumn('date_joined')
  dateJoined!: Date;
}

export type Role = 'admin' | 'user';

export const roleOf = ({ isStaff }: Pick<Account, 'isStaff'>): Role => (isStaff ? 'admin' : 'user');
