import { Injectable } from '@nestjs/common';
import { Transactions } from '../../database/transactions.js';
import type { Principal } from '../access/index.js';
import {
  AccountsService,
  type ChangePasswordInput,
  IncorrectPassword,
  PasswordPolicy,
  Passwords,
} from '../accounts/index.js';
import { Logins } from '../logins/index.js';

@Injectable()
export class PasswordChanges {
  constructor(
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly logins: Logins,
  ) {}

  /**
   * Changes the password, and ends every login of the account but the caller's own.
   *
   * @throws IncorrectPassword when the old one is wrong, also because another change was faster
   * @throws AppError `VALIDATION_ERROR` for a poor new one
   */
  async change({ account, sid }: Principal, input: ChangePasswordInput): Promise<void> {
    const matches = await this.passwords.matches(input.old_password, account.passwordHash);
    if (!matches) throw new IncorrectPassword();
    await this.policy.check('new_password', input.new_password, account);
    const passwordHash = await this.passwords.hash(input.new_password);
    await this.transactions.run(async () => {
      await this.accounts.setPasswordHash(account, passwordHash);
      await this.logins.endAll(account.id, sid);
    });
  }
}
