import { Injectable } from '@nestjs/common';
import { AccountData } from '../../platform/jobs/account-data.js';
import { Transactions } from '../../platform/database/transactions.js';
import { type Account, accountDeleted, AccountsService, IncorrectPassword } from '../accounts/index.js';

/** Deletes accounts and all personal data. */
@Injectable()
export class AccountRemoval {
  constructor(
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly accountData: AccountData,
  ) {}

  /**
   * @param seen the account that was authenticated
   * @throws IncorrectPassword when its password has changed since
   * @throws AppError `UNAUTHENTICATED` when it was deleted concurrently
   */
  async remove(seen: Account): Promise<void> {
    await this.transactions.run(async (manager) => {
      // A concurrent login waits for this lock, and then finds no account.
      const account = await this.accounts.lock(seen.id);
      if (!account) throw accountDeleted();
      if (account.passwordChangedAt.getTime() !== seen.passwordChangedAt.getTime()) {
        throw new IncorrectPassword();
      }
      await this.accountData.erase(account, manager);
      await this.accounts.remove(account.id);
    });
  }
}
