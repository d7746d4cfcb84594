import { Account } from './account.entity.js';

type Shown = Omit<Account, 'emailKey' | 'nameFolded' | 'passwordHash' | 'role'>;

const COLUMNS = {
  id: 'id',
  email: 'email',
  name: 'name',
  phone: 'phone',
  passwordChangedAt: 'password_changed_at',
  isActive: 'is_active',
  isStaff: 'is_staff',
  isSuperuser: 'is_superuser',
  isEmailVerified: 'is_email_verified',
  isOwnerConfirmed: 'is_owner_confirmed',
  hasSecondFactor: 'has_second_factor',
  verifyUntil: 'verify_until',
  dateJoined: 'date_joined',
  lastLoginAt: 'last_login_at',
} as const satisfies Record<keyof Shown, string>;

/** The columns that {@link toAccount} reads. */
export const ACCOUNT = Object.entries(COLUMNS)
  .map(([property, column]) => `${column} AS "${property}"`)
  .join(', ');

/** Converts an account as `Queries` reads it: SQLite has no booleans, and times are text. */
export type AccountRow = {
  readonly [Property in keyof Shown]: Shown[Property] extends boolean
    ? boolean | number
    : Shown[Property] extends Date
      ? string
      : Shown[Property] extends Date | null
        ? string | null
        : Shown[Property];
};

export const toAccount = (row: AccountRow): Account =>
  Object.assign(new Account(), row, {
    passwordChangedAt: new Date(row.passwordChangedAt),
    isActive: Boolean(row.isActive),
    isStaff: Boolean(row.isStaff),
    isSuperuser: Boolean(row.isSuperuser),
    isEmailVerified: Boolean(row.isEmailVerified),
    isOwnerConfirmed: Boolean(row.isOwnerConfirmed),
    hasSecondFactor: Boolean(row.hasSecondFactor),
    verifyUntil: row.verifyUntil === null ? null : new Date(row.verifyUntil),
    dateJoined: new Date(row.dateJoined),
    lastLoginAt: row.lastLoginAt === null ? null : new Date(row.lastLoginAt),
  });
