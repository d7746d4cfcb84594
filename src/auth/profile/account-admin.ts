import { AppError } from '../../common/errors/errors.js';
import type { Queries } from '../../database/queries.js';
import type { Transactions } from '../../database/transactions.js';
import { ACCOUNT, type Account, type AccountRow, emailKey, toAccount } from '../accounts/index.js';
import type { Logins } from '../logins/index.js';

/** What is done to accounts by who runs the service, and never over HTTP. */
export class AccountAdmin {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly logins: Logins,
  ) {}

  async list(): Promise<Account[]> {
    const rows = await this.queries.all<AccountRow>(`SELECT ${ACCOUNT} FROM accounts ORDER BY id`);
    return rows.map(toAccount);
  }

  /** An account that is switched off loses its logins for good. @throws AppError `NOT_FOUND` */
  setActive(email: string, active: boolean): Promise<Account> {
    return this.transactions.run(async () => {
      const account = await this.set('is_active', email, active);
      if (!active) await this.logins.endAll(account.id);
      return account;
    });
  }

  /** @throws AppError `NOT_FOUND` */
  setStaff(email: string, staff: boolean): Promise<Account> {
    return this.set('is_staff', email, staff);
  }

  private async set(flag: 'is_active' | 'is_staff', email: string, value: boolean): Promise<Account> {
    const [row] = await this.transactions.execute<AccountRow>(
      `UPDATE accounts SET ${flag} = ${value ? 'TRUE' : 'FALSE'} WHERE email_key = :emailKey RETURNING ${ACCOUNT}`,
      { emailKey: emailKey(email) },
    );
    if (!row) throw new AppError('NOT_FOUND', `There is no account ${email}`);
    return toAccount(row);
  }
}
