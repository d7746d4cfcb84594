import type { Repository } from 'typeorm';
import { AppError } from '../../common/errors/errors.js';
import type { Transactions } from '../../database/transactions.js';
import { type Account, emailKey } from '../accounts/index.js';
import type { Logins } from '../logins/index.js';

/** What is done to accounts by who runs the service, and never over HTTP. */
export class AccountAdmin {
  constructor(
    private readonly accounts: Repository<Account>,
    private readonly transactions: Transactions,
    private readonly logins: Logins,
  ) {}

  list(): Promise<Account[]> {
    return this.accounts.find({ order: { id: 'ASC' } });
  }

  /** An account that is switched off loses its logins for good. @throws AppError `NOT_FOUND` */
  setActive(email: string, active: boolean): Promise<Account> {
    return this.transactions.run(async () => {
      const account = await this.set(email, { isActive: active });
      if (!active) await this.logins.endAll(account.id);
      return account;
    });
  }

  /** @throws AppError `NOT_FOUND` */
  setStaff(email: string, staff: boolean): Promise<Account> {
    return this.set(email, { isStaff: staff });
  }

  private async set(email: string, flags: Partial<Pick<Account, 'isActive' | 'isStaff'>>): Promise<Account> {
    const criteria = { emailKey: emailKey(email) };
    const { affected } = await this.accounts.update(criteria, flags);
    if (affected === 0) throw new AppError('NOT_FOUND', `There is no account ${email}`);
    return this.accounts.findOneByOrFail(criteria);
  }
}
