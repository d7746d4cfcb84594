import { Injectable } from '@nestjs/common';
import { AccountData } from '../platform/access/index.js';
import { isDuplicate } from '../platform/database/failures.js';
import { Transactions } from '../platform/database/transactions.js';
import { AppError } from '../platform/http/errors/errors.js';
import { AccountChanges, accountPath } from './account-changes.js';
import type { Account } from './account.entity.js';
import { AccountMails } from './account-mails.js';
import { noSuchAccount } from './account-search.js';
import { AccountsService } from './accounts.service.js';
import { normalizeNewEmail } from './email-address.js';

export const OWN_ACCOUNT = 'Another superuser must do this to your account';
export const SUPERUSER_IS_STAFF = 'A superuser is always staff';

type Rights = Pick<Account, 'isActive' | 'isStaff'>;

/** What others do to an account: superusers over HTTP (`ManagedAccounts`), and operators by commands, by the same rules. */
@Injectable()
export class AccountAdmin {
  constructor(
    private readonly accounts: AccountsService,
    private readonly changes: AccountChanges,
    private readonly mails: AccountMails,
    private readonly data: AccountData,
    private readonly transactions: Transactions,
  ) {}

  /** @throws AppError `NOT_FOUND` */
  async get(email: string): Promise<Account> {
    const account = await this.accounts.findByEmail(email);
    if (!account) throw new AppError('NOT_FOUND', `There is no account ${email}`);
    return account;
  }

  /**
   * Sets whether an account may log in, and whether it is staff. Its logins end with a change, so that no token keeps the
   * former role; its API keys with a deactivation.
   *
   * @throws AppError `CONFLICT` for the last active superuser, and for one who would not be staff
   */
  async setRights(seen: Account, changed: Partial<Rights>): Promise<Account> {
    const isSame = (account: Account): boolean =>
      account.isActive === (changed.isActive ?? account.isActive) &&
      account.isStaff === (changed.isStaff ?? account.isStaff);
    if (isSame(seen)) return seen;
    const traces = { ...tracesOf(seen), security: ['account_changed'] } as const;
    const work = async (account: Account): Promise<Account> => {
      const rights = { isActive: account.isActive, isStaff: account.isStaff, ...changed };
      if (account.isSuperuser && !rights.isStaff) throw new AppError('CONFLICT', SUPERUSER_IS_STAFF);
      const isDeactivated = account.isActive && !rights.isActive;
      await this.accounts.setRights(account.id, rights);
      if (isDeactivated) await this.data.revoke(account);
      else if (rights.isStaff !== account.isStaff) await this.data.endSessions(account);
      await this.mails.notify(account, isDeactivated ? 'deactivated' : 'rights-changed');
      return Object.assign(account, rights);
    };
    return this.transactions.run(async () => {
      if (changed.isActive === false) await this.accounts.requireAnotherSuperuser(seen);
      return this.changes.run(seen.id, traces, work);
    });
  }

  /** Ends every login of an account. */
  endSessions(seen: Account): Promise<void> {
    const traces = { ...tracesOf(seen), security: ['logins_ended'] } as const;
    return this.changes.run(seen.id, traces, (account) => this.data.endSessions(account));
  }

  /** Takes the second factor and the passkeys of a person away who has lost them, and ends the logins. */
  resetFactors(seen: Account): Promise<void> {
    const traces = { ...tracesOf(seen), security: ['account_changed', 'second factor reset'] } as const;
    return this.changes.run(seen.id, traces, async (account) => {
      await this.data.resetFactors(account);
      await this.data.endSessions(account);
    });
  }

  /** Records that somebody has seen that the address is its owner's. */
  verifyEmail(seen: Account): Promise<void> {
    return this.changes.run(seen.id, tracesOf(seen), (account) =>
      this.accounts.markVerified(account, { byOwner: true }),
    );
  }

  /** Changes the address of an account; the new one counts as verified. @throws AppError `VALIDATION_ERROR`, `CONFLICT` */
  async changeEmail(seen: Account, newEmail: string): Promise<Account> {
    const address = normalizeNewEmail(newEmail);
    if (address === undefined) {
      throw new AppError(
        'VALIDATION_ERROR',
        `${newEmail} is not an e-mail address, or looks like another one`,
      );
    }
    try {
      return await this.changes.run(seen.id, { ...tracesOf(seen), notice: 'email-changed' }, (account) =>
        this.accounts.setEmail(account, address, { byOwner: account.isOwnerConfirmed }),
      );
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', `There is another account ${newEmail}`, { cause: error });
    }
  }

  /** Deletes an account and all personal data. @throws AppError `CONFLICT` for the last active superuser */
  delete(seen: Account): Promise<void> {
    const traces = { ...tracesOf(seen), security: ['account_changed', 'deleted'] } as const;
    return this.transactions.run(async () => {
      await this.accounts.requireAnotherSuperuser(seen);
      await this.changes.run(seen.id, traces, (account) => this.accounts.remove(account));
    });
  }
}

const tracesOf = ({ id }: Account) => ({ subject: accountPath(id), deleted: noSuchAccount });
