import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AppError } from '../../platform/http/errors/errors.js';
import { isDuplicate } from '../../platform/database/failures.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import { AccountMails, AccountTokens } from '../account-mails/index.js';
import { Account, AccountsService, normalizeNewEmail, PasswordPolicy, Passwords } from '../accounts/index.js';
import { Logins } from '../logins/index.js';
import { ApiKeys } from '../api-keys/index.js';
import { Passkeys } from '../passkeys/index.js';
import { SecondFactors } from '../second-factors/index.js';
import { AccountRemoval } from './account-removal.js';

/** Filters of the list of accounts. */
interface ListRange {
  /** Part of the e-mail or the name; the case of ASCII letters is ignored. */
  readonly search: string;
  /** Starts at 1. */
  readonly page: number;
  readonly limit: number;
}

/**
 * Administration of accounts, by commands and never over HTTP. Accounts are named by their e-mail; an
 * unknown one is an AppError `NOT_FOUND`.
 */
@Injectable()
export class AccountAdmin {
  constructor(
    @InjectRepository(Account) private readonly repository: Repository<Account>,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly accounts: AccountsService,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly logins: Logins,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
    private readonly removal: AccountRemoval,
    private readonly factors: SecondFactors,
    private readonly passkeys: Passkeys,
    private readonly apiKeys: ApiKeys,
  ) {}

  /** @returns one page, and the number of all matching accounts */
  list({ search, page, limit }: ListRange): Promise<[Account[], number]> {
    const pattern = `%${search.replaceAll(/[%_!]/g, '!$&')}%`;
    // In both databases, this changes ASCII letters only.
    const name = pattern.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
    return this.repository
      .createQueryBuilder('account')
      .where(`(account.emailKey LIKE :email ESCAPE '!' OR LOWER(account.name) LIKE :name ESCAPE '!')`, {
        email: pattern.toLowerCase(),
        name,
      })
      .orderBy('account.id')
      .offset((page - 1) * limit)
      .limit(limit)
      .getManyAndCount();
  }

  async find(email: string): Promise<Account> {
    const account = await this.accounts.findByEmail(email);
    if (!account) throw notFound(email);
    return account;
  }

  /** Deactivating an account ends its logins and API keys. */
  setActive(email: string, active: boolean): Promise<Account> {
    return this.transactions.run(async () => {
      const account = await this.set(email, { isActive: active });
      if (!active) {
        await this.logins.endAll(account.id);
        await this.removeApiKeys(account);
      }
      return account;
    });
  }

  setStaff(email: string, staff: boolean): Promise<Account> {
    return this.transactions.run(() => this.set(email, { isStaff: staff }));
  }

  async verifyEmail(email: string): Promise<Account> {
    const { id } = await this.find(email);
    await this.transactions.run(async () => {
      const account = await this.accounts.lock(id);
      if (!account) throw notFound(email);
      await this.accounts.markVerified(account);
      await this.record(account);
    });
    return this.find(email);
  }

  /** Sets a password, and ends all logins. @throws AppError `VALIDATION_ERROR` if it breaks the policy */
  async resetPassword(email: string, password: string): Promise<Account> {
    const seen = await this.find(email);
    await this.policy.check('password', password, seen);
    const passwordHash = await this.passwords.hash(password);
    await this.transactions.run(async () => {
      const account = (await this.accounts.lock(seen.id)) ?? seen;
      await this.accounts.setPasswordHash(account, passwordHash);
      await this.logins.endAll(seen.id);
      await this.tokens.endAll(seen.id);
      await this.removeApiKeys(account);
      await this.mails.notify(account, 'password-changed');
      await this.record(account);
    });
    return seen;
  }

  /**
   * Changes the address of an account; the new one counts as verified.
   *
   * @throws AppError `VALIDATION_ERROR` for an invalid address, `CONFLICT` for one that is taken
   */
  async changeEmail(email: string, newEmail: string): Promise<Account> {
    const { id } = await this.find(email);
    const address = normalizeNewEmail(newEmail);
    if (address === undefined) {
      throw new AppError(
        'VALIDATION_ERROR',
        `${newEmail} is not an e-mail address, or looks like another one`,
      );
    }
    try {
      return await this.transactions.run(async () => {
        // Otherwise a mail that is being sent to the old address could still contain a valid token.
        const before = await this.accounts.lock(id);
        if (!before) throw notFound(email);
        await this.tokens.endAll(id);
        await this.mails.notify(before, 'email-changed');
        await this.record(before);
        return this.accounts.setEmail(before, address);
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', `There is another account ${newEmail}`, { cause: error });
    }
  }

  /** Takes the second factor and all passkeys of an account away, for a person who has lost them. */
  async resetFactors(email: string): Promise<Account> {
    const { id } = await this.find(email);
    return this.transactions.run(async () => {
      const account = await this.accounts.lock(id);
      if (!account) throw notFound(email);
      if (account.hasSecondFactor) await this.mails.notify(account, 'factor-removed');
      if ((await this.passkeys.count(id)) > 0) await this.mails.notify(account, 'passkey-removed');
      await this.factors.remove(id);
      await this.passkeys.removeAll(id);
      await this.record(account);
      return account;
    });
  }

  /** Deletes an account and all personal data. */
  async delete(email: string): Promise<Account> {
    const { id } = await this.find(email);
    return this.transactions.run(async () => {
      // Read under the lock: the removal rejects an account whose password has changed since it was read.
      const account = await this.accounts.lock(id);
      if (!account) throw notFound(email);
      await this.removal.remove(account);
      await this.record(account);
      return account;
    });
  }

  private async removeApiKeys(account: Account): Promise<void> {
    if (await this.apiKeys.removeAll(account.id)) await this.mails.notify(account, 'api-key-removed');
  }

  private async set(email: string, flags: Partial<Pick<Account, 'isActive' | 'isStaff'>>): Promise<Account> {
    const { id } = await this.find(email);
    await this.repository.update({ id }, flags);
    const account = await this.find(email);
    await this.record(account);
    return account;
  }

  private record({ id }: Account): Promise<void> {
    return this.changes.record({ subject: `account ${id}` });
  }
}

const notFound = (email: string): AppError => new AppError('NOT_FOUND', `There is no account ${email}`);
