import { Injectable } from '@nestjs/common';
import { AccountData, type Principal, RecentLogins } from '../../platform/access/index.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AccountChanges, accountPath } from '../account-changes.js';
import { type Account } from '../account.entity.js';
import { AccountsService } from '../accounts.service.js';
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
    await this.changes.run(account.id, PASSWORD_CHANGED, () => this.accounts.setPassword(account, hash, sid));
  }

  /** Sets a password for an operator. It ends what a reset ends: all logins, API keys, and what a stranger may have added. */
  async set(seen: Account, password: string): Promise<void> {
    const hash = await this.policy.hash('password', password, seen);
    const traces = { ...PASSWORD_CHANGED, subject: accountPath(seen.id) };
    await this.changes.run(seen.id, traces, async (account) => {
      await this.data.removeUnconfirmed(account);
      await this.accounts.setPassword(account, hash);
      await this.data.revoke(account);
    });
  }
}

/** What a change of a password records. */
export const PASSWORD_CHANGED = { notice: 'password-changed', security: ['password_changed'] } as const;
