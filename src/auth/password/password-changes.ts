import { Injectable } from '@nestjs/common';
import { AccountData, type Principal, RecentLogins } from '../../platform/access/index.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { AccountChanges } from '../../accounts/account-changes.js';
import { type Account } from '../../accounts/account.entity.js';
import { AccountsService } from '../../accounts/accounts.service.js';
import type { ChangePasswordInput } from './password.input.js';
import { PasswordPolicy } from './password-policy.js';

/** Changes passwords, for the owners of accounts and for operators. */
@Injectable()
export class PasswordChanges {
  constructor(
    private readonly accounts: AccountsService,
    private readonly policy: PasswordPolicy,
    private readonly recent: RecentLogins,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
  ) {}

  /** Changes the password, and ends all other logins of the account and all tokens in mails. */
  async change(caller: Principal, input: ChangePasswordInput, client: ClientInfo): Promise<void> {
    const { account, sid } = caller;
    await this.recent.checkPassword(caller, input.old_password, client);
    const hash = await this.policy.hash('new_password', input.new_password, account, client.address);
    await this.changes.run(account.id, { notice: 'password-changed' }, () =>
      this.accounts.setPassword(account, hash, sid),
    );
  }

  /** Sets a password for an operator, and ends all logins. */
  async set(email: string, password: string): Promise<Account> {
    const seen = await this.accounts.findByEmail(email);
    if (!seen) throw new AppError('NOT_FOUND', `There is no account ${email}`);
    const { id } = seen;
    const hash = await this.policy.hash('password', password, seen);
    const traces = { notice: 'password-changed', subject: `account ${id}` } as const;
    await this.changes.run(id, traces, async (account) => {
      await this.accounts.setPassword(account, hash);
      await this.data.revoke(account);
    });
    return seen;
  }
}
