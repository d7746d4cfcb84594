import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../platform/http/openapi/properties.js';
import type { Account, Role } from './account.entity.js';

/** An account as its owner sees it, without the hash. */
@ApiSchema({ name: 'Account' })
export class AccountView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'ada@example.com' })
  readonly email!: string;

  @ApiProperty({ example: 'Ada' })
  readonly name!: string;

  @ApiProperty({ description: 'Empty if the account has no phone number.', example: '' })
  readonly phone!: string;

  @ApiProperty({ enum: ['user', 'admin'], description: 'admin for staff.' })
  readonly role!: Role;

  @ApiProperty({ example: true })
  readonly is_active!: boolean;

  @ApiProperty({ example: false })
  readonly is_staff!: boolean;

  @ApiProperty({ example: false })
  readonly is_superuser!: boolean;

  @ApiProperty({ example: false })
  readonly is_email_verified!: boolean;

  @TimestampProperty()
  readonly date_joined!: string;
}

export const toAccountView = (account: Account): AccountView => ({
  id: account.id,
  email: account.email,
  name: account.name,
  phone: account.phone,
  role: account.role,
  is_active: account.isActive,
  is_staff: account.isStaff,
  is_superuser: account.isSuperuser,
  is_email_verified: account.isEmailVerified,
  date_joined: account.dateJoined.toISOString(),
});

/** An account as staff sees it. */
@ApiSchema({ name: 'AccountDetails' })
export class AccountDetailsView extends AccountView {
  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'When its last login began; null if there was none.',
    example: '2026-11-21T08:00:00.000Z',
  })
  readonly last_login_at!: string | null;

  @ApiProperty({ type: 'integer', description: 'Logins that are valid, by cookie and by token.', example: 1 })
  readonly logins!: number;

  @ApiProperty({ description: 'Whether two-step login is on.', example: false })
  readonly totp!: boolean;

  @ApiProperty({ type: 'integer', example: 0 })
  readonly passkeys!: number;
}

export const toAccountDetailsView = (
  account: Account,
  { logins, passkeys }: { readonly logins: number; readonly passkeys: number },
): AccountDetailsView =>
  Object.assign(toAccountView(account), {
    last_login_at: account.lastLoginAt?.toISOString() ?? null,
    logins,
    totp: account.hasSecondFactor,
    passkeys,
  });
