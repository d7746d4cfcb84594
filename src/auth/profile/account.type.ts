import { Field, ID, ObjectType } from '@nestjs/graphql';
import { type Account, roleOf } from '../accounts/index.js';

/** The caller's account in GraphQL. Not a `User`, which is a public profile. */
@ObjectType('Account', { description: 'The calling account.' })
export class AccountType {
  @Field(() => ID)
  id!: number;

  @Field()
  email!: string;

  @Field()
  name!: string;

  @Field({ description: 'Empty if the account has no phone number.' })
  phone!: string;

  @Field({ description: '`admin` for staff, else `user`.' })
  role!: string;

  @Field()
  isActive!: boolean;

  @Field()
  isStaff!: boolean;

  @Field()
  isSuperuser!: boolean;

  @Field()
  isEmailVerified!: boolean;

  @Field()
  dateJoined!: Date;
}

export const toAccountType = (account: Account): AccountType => ({
  id: account.id,
  email: account.email,
  name: account.name,
  phone: account.phone,
  role: roleOf(account),
  isActive: account.isActive,
  isStaff: account.isStaff,
  isSuperuser: account.isSuperuser,
  isEmailVerified: account.isEmailVerified,
  dateJoined: account.dateJoined,
});
