import { Controller, Delete, Get, Module, Post } from '@nestjs/common';
import { Int, Query, Resolver } from '@nestjs/graphql';
import { Public, StaffOnly } from '../../src/auth/access/index.js';
import { Account } from '../../src/auth/accounts/index.js';
import { CurrentAccount } from '../../src/auth/access/index.js';
import { WriteAccess } from '../../src/auth/access/index.js';

interface Seen {
  readonly id: number | null;
}

const seen = (account: Account | null): Seen => ({ id: account?.id ?? null });

/** Routes as module authors write them, one for each thing that can be said of who may call them. */
@Controller({ path: 'access', version: '1' })
class AccessController {
  @Get('default')
  forAccounts(@CurrentAccount() account: Account): Seen {
    return seen(account);
  }

  @Get('public')
  @Public()
  forEveryone(@CurrentAccount() account: Account | null): Seen {
    return seen(account);
  }

  @Get('staff')
  @StaffOnly()
  forStaff(@CurrentAccount() account: Account): Seen {
    return seen(account);
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
  write(@CurrentAccount() account: Account | null): Seen {
    return seen(account);
  }

  /** What a handler says goes before what its class says. */
  @Delete()
  @StaffOnly()
  remove(): string {
    return 'removed';
  }
}

/** The same over GraphQL. */
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

@Module({ controllers: [AccessController, GovernedController], providers: [AccessResolver] })
export class AccessModule {}
