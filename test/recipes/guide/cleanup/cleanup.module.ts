import { Injectable, Logger, Module } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { Account } from '../../../../src/accounts/account.entity.js';
import { AccountsModule } from '../../../../src/accounts/accounts.module.js';
import { AccountsService } from '../../../../src/accounts/accounts.service.js';
import { Config } from '../../../../src/platform/config/config.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { Clock } from '../../../../src/platform/jobs/clock.js';

/** Two years, in milliseconds. */
const MAX_AGE = 730 * 24 * 60 * 60 * 1000;

const BATCH = 500;

/** Deletes accounts that have been used, but not for two years. */
@Injectable()
export class AccountCleanup {
  private readonly logger = new Logger(AccountCleanup.name);

  constructor(
    @InjectRepository(Account) private readonly rows: Repository<Account>,
    private readonly accounts: AccountsService,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  @Cron('0 3 * * *', { name: 'account-cleanup', timeZone: 'UTC' })
  async run(): Promise<void> {
    // A command has the same modules, and leaves this to the service.
    if (!this.config.serves) return;
    const before = new Date(this.clock.now().getTime() - MAX_AGE);
    let deleted = 0;
    for (;;) {
      const where = { isStaff: false, isSuperuser: false, lastLoginAt: LessThan(before) };
      const unused = await this.rows.find({ where, take: BATCH });
      for (const { id } of unused) if (await this.delete(id, before)) deleted++;
      if (unused.length < BATCH) break;
    }
    this.logger.log(`${deleted} accounts deleted`);
  }

  /** By the service, which deletes all that the account owns. An account that was used meanwhile stays. */
  private delete(id: number, before: Date): Promise<boolean> {
    return this.transactions.run(async () => {
      // Every replica runs the job: another one may have deleted it.
      const account = await this.accounts.lock(id);
      if (!account?.lastLoginAt || account.lastLoginAt >= before) return false;
      await this.accounts.remove(account);
      return true;
    });
  }
}

@Module({
  imports: [ScheduleModule.forRoot(), TypeOrmModule.forFeature([Account]), AccountsModule],
  providers: [AccountCleanup],
})
export class CleanupModule {}
