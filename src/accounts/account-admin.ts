import { Injectable } from '@nestjs/common';
import { AccountData } from '../platform/access/index.js';
import { isDuplicate } from '../platform/database/failures.js';
import { AppError } from '../platform/http/errors/errors.js';
import type { Notice } from './mail-texts.js';
import { AccountChanges } from './account-changes.js';
import type { Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { normalizeNewEmail } from './email-address.js';

/**
 * Administration of accounts by commands; over HTTP, it is `ManagedAccounts`. Accounts are named by their e-mail; an
 * unknown one is an AppError `NOT_FOUND`.
 */
@Injectable()
export class AccountAdmin {
  constructor(
    private readonly accounts: AccountsService,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
  ) {}

  async find(email: string): Promise<Account> {
    const account = await this.accounts.findByEmail(email);
    if (!account) throw notFound(email);
    return account;
  }

  /** Deactivating an account ends its logins and API keys. */
  setActive(email: string, active: boolean): Promise<Account> {
    return this.change(email, async (account) => {
      await this.accounts.setRights(account.id, { isActive: active });
      if (!active) await this.data.revoke(account);
      return Object.assign(account, { isActive: active });
    });
  }

  setStaff(email: string, staff: boolean): Promise<Account> {
    return this.change(email, async (account) => {
      await this.accounts.setRights(account.id, { isStaff: staff });
      return Object.assign(account, { isStaff: staff });
    });
  }

  async verifyEmail(email: string): Promise<Account> {
    await this.change(email, (account) => this.accounts.markVerified(account, { byOwner: true }));
    return this.find(email);
  }

  /** Changes the address of an account; the new one counts as verified. */
  async changeEmail(email: string, newEmail: string): Promise<Account> {
    // Before the address is checked.
    await this.find(email);
    const address = normalizeNewEmail(newEmail);
    if (address === undefined) {
      throw new AppError(
        'VALIDATION_ERROR',
        `${newEmail} is not an e-mail address, or looks like another one`,
      );
    }
    try {
      return await this.change(
        email,
        (account) => this.accounts.setEmail(account, address, { byOwner: true }),
        'email-changed',
      );
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', `There is another account ${newEmail}`, { cause: error });
    }
  }

  /** Takes the second factor and all passkeys of an account away, for a person who has lost them. */
  resetFactors(email: string): Promise<Account> {
    return this.change(email, async (account) => {
      await this.data.resetFactors(account);
      return account;
    });
  }

  /** Deletes an account and all personal data. */
  delete(email: string): Promise<Account> {
    return this.change(email, async (account) => {
      await this.accounts.remove(account);
      return account;
    });
  }

  /** @param work gets the account as it is now, locked */
  private async change<T>(
    email: string,
    work: (account: Account) => Promise<T>,
    notice?: Notice,
  ): Promise<T> {
    const { id } = await this.find(email);
    const traces = { notice, subject: `account ${id}`, deleted: () => notFound(email) };
    return this.changes.run(id, traces, work);
  }
}

const notFound = (email: string): AppError => new AppError('NOT_FOUND', `There is no account ${email}`);
