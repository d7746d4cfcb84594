import { Field, ID, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { CurrentAccount, Public } from '../platform/access/index.js';
import type { Account } from './account.entity.js';

/** The caller's account in GraphQL. Not a `User`, which is a public profile. */
@ObjectType('Account', { description: 'The calling account.' })
class AccountType {
  @Field(() => ID, { description: 'Identifies the account.' })
  id!: number;

  @Field({ description: 'The address that the account logs in with.' })
  email!: string;

  @Field({ description: '1 to 150 characters.' })
  name!: string;

  @Field({ description: 'Empty if the account has no phone number.' })
  phone!: string;

  @Field({ description: '`admin` for staff, else `user`.' })
  role!: string;

  @Field({ description: 'Whether the account can log in.' })
  isActive!: boolean;

  @Field({ description: 'Whether the account has the rights of staff.' })
  isStaff!: boolean;

  @Field({ description: 'Whether a command has made it a superuser.' })
  isSuperuser!: boolean;

  @Field({ description: 'Whether the account has confirmed its e-mail.' })
  isEmailVerified!: boolean;

  @Field({ description: 'When the account was created.' })
  dateJoined!: Date;
}

const toAccountType = (account: Account): AccountType => ({
  id: account.id,
  email: account.email,
  name: account.name,
  phone: account.phone,
  role: account.role,
  isActive: account.isActive,
  isStaff: account.isStaff,
  isSuperuser: account.isSuperuser,
  isEmailVerified: account.isEmailVerified,
  dateJoined: account.dateJoined,
});

@Resolver(() => AccountType)
export class AccountResolver {
  @Query(() => AccountType, { nullable: true, description: 'The calling account; null without credentials.' })
  @Public()
  me(@CurrentAccount() account: Account | null): AccountType | null {
    return account && toAccountType(account);
  }
}
