import { Injectable } from '@nestjs/common';
import { type Principal, RecentLogins } from '../platform/access/index.js';
import { Changes } from '../platform/changes/index.js';
import { Transactions } from '../platform/database/transactions.js';
import type { ClientInfo } from '../platform/http/request-context.js';
import { AppError } from '../platform/http/errors/errors.js';
import { accountDeleted, AccountsService } from './accounts.service.js';
import type { DeleteAccountInput } from './account.input.js';

export const LOGIN_TOO_OLD =
  'Log in again first: the account has no password, and the login is older than 5 minutes';

/** Deletion of accounts by their owners. */
@Injectable()
export class AccountDeletion {
  constructor(
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  /** @throws AppError `CONFLICT` for the last active superuser */
  async delete(caller: Principal, { password, code }: DeleteAccountInput, client: ClientInfo): Promise<void> {
    const { account } = caller;
    if (!(await this.accounts.hasPassword(account))) {
      const isRecent = this.recent.isRecent(caller);
      if (!isRecent && !(await this.accounts.exists(account.id))) throw accountDeleted();
      if (!isRecent) throw new AppError('FORBIDDEN', LOGIN_TOO_OLD, { isDenial: false });
      await this.recent.checkCodeIfOn(caller, code, client);
    } else {
      if (password == null) throw missingPassword();
      await this.recent.authenticate(caller, { password, code }, client);
    }
    await this.transactions.run(async () => {
      await this.accounts.requireAnotherSuperuser(account);
      // Before the removal, which takes address and client from the entries of the account.
      await this.changes.record();
      await this.accounts.remove(account);
    });
  }
}

function missingPassword(): AppError {
  const message = 'password must be a string';
  return new AppError('VALIDATION_ERROR', message, { details: [{ field: 'password', message }] });
}
