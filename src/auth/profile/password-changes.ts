import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../platform/http/client.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import type { Principal } from '../../platform/access/index.js';
import { AccountMails, AccountTokens } from '../account-mails/index.js';
import { AccountsService, type ChangePasswordInput, PasswordPolicy, Passwords } from '../accounts/index.js';
import { Logins, RecentLogins } from '../logins/index.js';

@Injectable()
export class PasswordChanges {
  constructor(
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly logins: Logins,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
  ) {}

  /**
   * Changes the password, and ends all other logins of the account and all tokens in mails.
   *
   * @throws IncorrectPassword if the old password is wrong, or was changed concurrently
   * @throws AppError `VALIDATION_ERROR` if the new one breaks the policy, `RATE_LIMITED` after too many wrong old ones
   */
  async change(caller: Principal, input: ChangePasswordInput, client: ClientInfo): Promise<void> {
    const { account, sid } = caller;
    await this.recent.checkPassword(caller, input.old_password, client);
    await this.policy.check('new_password', input.new_password, account);
    const passwordHash = await this.passwords.hash(input.new_password, client.address);
    await this.transactions.run(async () => {
      await this.accounts.setPasswordHash(account, passwordHash);
      await this.logins.endAll(account.id, sid);
      await this.tokens.endAll(account.id);
      await this.mails.notify(account, 'password-changed');
      await this.changes.record();
    });
  }
}
