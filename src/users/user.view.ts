import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../common/openapi/properties.js';
import type { User } from './user.entity.js';

/** A stored user, with timestamps as RFC 3339 text in UTC. */
export interface UserRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

/** The columns of a row. */
export const USER_COLUMNS = 'id, name, email, created_at, updated_at, version';

export const toUserRow = ({ id, name, email, createdAt, updatedAt, version }: User): UserRow => ({
  id,
  name,
  email,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
  version,
});

/** The end of the tag of a user in XML. */
export const XML_TAG = '.xml';

/** A user in the lists of both versions. */
@ApiSchema({ name: 'UserListItem' })
export class UserListItem {
  @ApiProperty({ example: '1' })
  readonly id!: string;

  @ApiProperty({ example: 'Ada' })
  readonly name!: string;
}

/** One user, in version 1. */
@ApiSchema({ name: 'UserV1' })
export class UserViewV1 {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'Ada' })
  readonly name!: string;
}

/** One user, in version 2. */
@ApiSchema({ name: 'UserV2' })
export class UserViewV2 {
  @ApiProperty({ example: '1' })
  readonly id!: string;

  @ApiProperty({ example: 'Ada' })
  readonly name!: string;

  @ApiProperty({ description: 'An address, or empty.', example: 'ada@example.com' })
  readonly email!: string;

  @TimestampProperty()
  readonly created_at!: string;

  @TimestampProperty()
  readonly updated_at!: string;
}

export const toListItem = ({ id, name }: UserRow): UserListItem => ({ id: String(id), name });

export const toViewV1 = ({ id, name }: UserRow): UserViewV1 => ({ id, name });

export const toViewV2 = ({ id, name, email, created_at, updated_at }: UserRow): UserViewV2 => ({
  id: String(id),
  name,
  email,
  created_at,
  updated_at,
});
