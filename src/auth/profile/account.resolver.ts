import { Query, Resolver } from '@nestjs/graphql';
import { CurrentAccount, Public } from '../../platform/access/index.js';
import type { Account } from '../accounts/index.js';
import { AccountType, toAccountType } from './account.type.js';

@Resolver(() => AccountType)
export class AccountResolver {
  @Query(() => AccountType, { nullable: true, description: 'The calling account; null without credentials.' })
  @Public()
  me(@CurrentAccount() account: Account | null): AccountType | null {
    return account && toAccountType(account);
  }
}
