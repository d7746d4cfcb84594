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
