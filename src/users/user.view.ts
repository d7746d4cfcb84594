import { Field, ID, ObjectType } from '@nestjs/graphql';
import { ApiProperty, ApiSchema, PickType } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../platform/http/openapi/properties.js';

/** A user for clients of version 2 and GraphQL; other modules define the fields that they add (`posts`). */
@ApiSchema({ name: 'UserV2' })
@ObjectType('User', { description: 'A public profile: the author of posts.' })
export class UserView {
  @Field(() => ID, { description: 'Identifies the user.' })
  @ApiProperty({ example: '1' })
  readonly id!: string;

  @Field({ description: '1 to 150 characters.' })
  @ApiProperty({ example: 'Ada' })
  readonly name!: string;

  @Field({ description: 'An address, or empty.' })
  @ApiProperty({ description: 'An address, or empty.', example: 'ada@example.com' })
  readonly email!: string;

  @Field(() => Date, { name: 'createdAt', description: 'When the user was created.' })
  @TimestampProperty()
  readonly created_at!: string;

  @TimestampProperty()
  readonly updated_at!: string;
}

/** A user in the lists of both versions. */
@ApiSchema({ name: 'UserListItem' })
export class UserListItem extends PickType(UserView, ['id', 'name']) {}

/** One user, in version 1. */
@ApiSchema({ name: 'UserV1' })
export class UserViewV1 {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'Ada' })
  readonly name!: string;
}

/** The columns of the view: all statements of users are built from this list. */
const USER_COLUMNS = Object.keys({
  id: true,
  name: true,
  email: true,
  created_at: true,
  updated_at: true,
} satisfies Record<keyof UserView, true>);

/** The columns that an insertion sets. */
export const INSERTED_USER_COLUMNS: readonly string[] = USER_COLUMNS.filter((name) => name !== 'id');

/** A stored user, with the version for its entity tag. */
export interface UserRow extends Omit<UserView, 'id'> {
  readonly id: number;
  readonly version: number;
}

export const USER_ROW = [...USER_COLUMNS, 'version'].join(', ');

export function toUserView(row: UserRow): UserView {
  // JSON omits what is undefined. A rest pattern takes five times as long.
  const view = { ...row, id: String(row.id), version: undefined };
  return view;
}

export const toListItem = ({ id, name }: UserRow): UserListItem => ({ id: String(id), name });

export const toViewV1 = ({ id, name }: UserRow): UserViewV1 => ({ id, name });
