import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThanOrEqual, Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { Config } from '../platform/config/config.js';
import { Transactions } from '../platform/database/transactions.js';
import { Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';

/** Accounts in one call. */
const BATCH = 100;

/**
 * Deletes accounts whose e-mail was not verified in time, where the setting requires that: otherwise anyone could
 * occupy the addresses of others.
 */
@Injectable()
export class UnverifiedAccounts {
  constructor(
    @InjectRepository(Account) private readonly repository: Repository<Account>,
    private readonly accounts: AccountsService,
    private readonly transactions: Transactions,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  async removeExpired(): Promise<{ deleted: number; isMore: boolean }> {
    if (!this.config.requireVerifiedEmail) return { deleted: 0, isMore: false };
    const expired = await this.repository.find({
      where: {
        verifyUntil: LessThanOrEqual(this.clock.now()),
        isEmailVerified: false,
        isStaff: false,
        isSuperuser: false,
      },
      order: { verifyUntil: 'ASC' },
      take: BATCH,
    });
    for (const { id } of expired) await this.remove(id);
    return { deleted: expired.length, isMore: expired.length === BATCH };
  }

  private async remove(id: number): Promise<void> {
    await this.transactions.run(async () => {
      // Its owner may have verified the e-mail meanwhile.
      const account = await this.accounts.lock(id);
      if (!account || account.isEmailVerified || account.isStaff || account.isSuperuser) return;
      await this.accounts.remove(account);
    });
  }
}
