import { Controller, Delete, Get, Module, Post } from '@nestjs/common';
import { Int, Query, Resolver } from '@nestjs/graphql';
import { AccountsOnly, Public, StaffOnly } from '../../src/platform/access/index.js';
import { Account } from '../../src/accounts/account.entity.js';
import { CurrentAccount } from '../../src/platform/access/index.js';
import { QuickPasswordsModule } from './quick-passwords.module.js';
import { WriteAccess } from '../../src/platform/access/index.js';

interface Caller {
  readonly id: number | null;
}

const callerOf = (account: Account | null): Caller => ({ id: account?.id ?? null });

/** Handlers as in a feature module, one for each access decorator. */
@Controller({ path: 'access', version: '1' })
class AccessController {
  @Get('default')
  forAccounts(@CurrentAccount() account: Account): Caller {
    return callerOf(account);
  }

  @Get('public')
  @Public()
  forEveryone(@CurrentAccount() account: Account | null): Caller {
    return callerOf(account);
  }

  @Get('staff')
  @StaffOnly()
  forStaff(@CurrentAccount() account: Account): Caller {
    return callerOf(account);
  }
}

@Controller({ path: 'governed', version: '1' })
@WriteAccess()
class GovernedController {
  @Get()
  read(): string {
    return 'read';
  }

  @Post()
  write(@CurrentAccount() account: Account | null): Caller {
    return callerOf(account);
  }

  @Get('account')
  @AccountsOnly()
  readOwn(@CurrentAccount() account: Account): Caller {
    return callerOf(account);
  }

  /** The decorator of a handler overrides that of its class. */
  @Delete()
  @StaffOnly()
  remove(): string {
    return 'removed';
  }
}

/** The same handlers over GraphQL. */
@Resolver()
class AccessResolver {
  @Query(() => Int)
  forAccounts(@CurrentAccount() account: Account): number {
    return account.id;
  }

  @Query(() => Int, { nullable: true })
  @Public()
  forEveryone(@CurrentAccount() account: Account | null): number | null {
    return account?.id ?? null;
  }

  @Query(() => Int)
  @StaffOnly()
  forStaff(@CurrentAccount() account: Account): number {
    return account.id;
  }
}

@Module({
  imports: [QuickPasswordsModule],
  controllers: [AccessController, GovernedController],
  providers: [AccessResolver],
})
export class AccessModule {}
