import { Field, ID, ObjectType } from '@nestjs/graphql';
import type { UserRow } from './user.view.js';

/** A user in GraphQL; other modules define the fields that they add (`posts`). */
@ObjectType('User', { description: 'A public profile: the author of posts.' })
export class UserType {
  @Field(() => ID)
  id!: number;

  @Field()
  name!: string;

  @Field({ description: 'An address, or empty.' })
  email!: string;

  @Field()
  createdAt!: Date;
}

export const toUserType = ({ id, name, email, created_at }: UserRow): UserType => ({
  id,
  name,
  email,
  createdAt: new Date(created_at),
});
