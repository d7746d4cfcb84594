import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import { isStorable } from '../../platform/http/validation/text.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import type { Principal } from '../../platform/access/index.js';
import type { Account } from '../accounts/index.js';
import { type LoginView, toLoginView } from './login.view.js';
import { Logins } from './logins.js';

/** Lists and ends logins for the account's owner. */
@Injectable()
export class LoginsService {
  constructor(
    private readonly logins: Logins,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  async list({ account, sid }: Principal): Promise<LoginView[]> {
    const logins = await this.logins.list(account.id);
    return logins.map((login) => toLoginView(login, sid));
  }

  async endOthers({ account, sid }: Principal): Promise<void> {
    await this.transactions.run(async () => {
      await this.logins.endAll(account.id, sid);
      await this.changes.record();
    });
  }

  /** @throws AppError `NOT_FOUND` if the account has no valid login with that id */
  async end({ id: accountId }: Account, id: string): Promise<void> {
    const ended = isStorable(id) && (await this.logins.endOne(accountId, id));
    if (!ended) throw new AppError('NOT_FOUND', 'Login not found');
  }
}
