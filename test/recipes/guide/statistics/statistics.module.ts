import { CacheInterceptor, CacheKey, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import { Controller, Get, Module, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiOperation, ApiSchema, ApiTags } from '@nestjs/swagger';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Account } from '../../../../src/accounts/account.entity.js';
import { Public } from '../../../../src/platform/access/index.js';
import { Int64Property } from '../../../../src/platform/http/openapi/properties.js';
import { Returns } from '../../../../src/platform/http/openapi/returns.js';

/** The responses. Without `@Returns…`, the reference has an empty body, and a test that gets another one fails. */
@ApiSchema({ name: 'AccountCount' })
class AccountCountView {
  @Int64Property({ example: 42 })
  readonly accounts!: number;
}

@ApiSchema({ name: 'StaffCount' })
class StaffCountView {
  @Int64Property({ example: 2 })
  readonly staff!: number;
}

@ApiTags('Statistics')
@Controller({ path: 'statistics', version: '1' })
@Public()
class StatisticsController {
  constructor(@InjectRepository(Account) private readonly accounts: Repository<Account>) {}

  /** Without the key, each query string would be an entry; with it, every caller gets the same response. */
  @Get('accounts')
  @UseInterceptors(CacheInterceptor)
  @CacheKey('statistics/accounts')
  @CacheTTL(60_000)
  @ApiOperation({ summary: 'Counts accounts, at most a minute ago' })
  @Returns(AccountCountView)
  async countAccounts(): Promise<AccountCountView> {
    return { accounts: await this.accounts.count() };
  }

  @Get('staff')
  @UseGuards(ThrottlerGuard)
  @ApiOperation({ summary: 'Counts staff, at most twice a minute for each client' })
  @Returns(StaffCountView)
  async countStaff(): Promise<StaffCountView> {
    return { staff: await this.accounts.countBy({ isStaff: true }) };
  }
}

@Module({
  imports: [
    CacheModule.register(),
    ThrottlerModule.forRoot([{ ttl: 60_000, limit: 2 }]),
    TypeOrmModule.forFeature([Account]),
  ],
  controllers: [StatisticsController],
})
export class StatisticsModule {}
