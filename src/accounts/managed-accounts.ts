import { Injectable } from '@nestjs/common';
import { AccountData, type Principal, type RecentInput, RecentLogins } from '../platform/access/index.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import type { ClientInfo } from '../platform/http/request-context.js';
import { AccountChanges } from './account-changes.js';
import type { Account } from './account.entity.js';
import type { ManageAccountInput } from './account.input.js';
import { AccountMails } from './account-mails.js';
import { AccountSearch, noSuchAccount } from './account-search.js';
import { AccountsService } from './accounts.service.js';

export const OWN_ACCOUNT = 'Another superuser must do this to your account';
export const LAST_SUPERUSER = 'The last active superuser must stay active';
export const SUPERUSER_IS_STAFF = 'A superuser is always staff';

/** What staff and superusers do to accounts over HTTP. `AccountAdmin` does it for commands. */
@Injectable()
export class ManagedAccounts {
  constructor(
    private readonly search: AccountSearch,
    private readonly accounts: AccountsService,
    private readonly changes: AccountChanges,
    private readonly mails: AccountMails,
    private readonly data: AccountData,
    private readonly recent: RecentLogins,
  ) {}

  /**
   * Sets the rights of an account. Its logins end with a change.
   *
   * @throws AppError `NOT_FOUND`, `FORBIDDEN` without a recent login, `CONFLICT`
   */
  async update(
    caller: Principal,
    id: number,
    { is_active, is_staff, ...proof }: ManageAccountInput,
    client: ClientInfo,
  ): Promise<Account> {
    const seen = await this.search.findOne(id);
    if (is_active == null && is_staff == null) return seen;
    await this.recent.require(caller, proof, client);
    if (is_active === false && id === caller.account.id) throw new AppError('CONFLICT', OWN_ACCOUNT);
    const isSame = (account: Account): boolean =>
      account.isActive === (is_active ?? account.isActive) &&
      account.isStaff === (is_staff ?? account.isStaff);
    if (isSame(seen)) return seen;
    const traces = { ...tracesOf(id), security: ['account_changed'] } as const;
    return this.changes.run(id, traces, async (account) => {
      const rights = { isActive: is_active ?? account.isActive, isStaff: is_staff ?? account.isStaff };
      if (account.isSuperuser && !rights.isStaff) throw new AppError('CONFLICT', SUPERUSER_IS_STAFF);
      const isDeactivated = account.isActive && !rights.isActive;
      if (isDeactivated && account.isSuperuser) await this.requireAnotherSuperuser(account);
      await this.accounts.setRights(id, rights);
      if (isDeactivated) await this.data.revoke(account);
      else if (rights.isStaff !== account.isStaff) await this.data.endLogins(account);
      await this.mails.notify(account, isDeactivated ? 'deactivated' : 'rights-changed');
      return Object.assign(account, rights);
    });
  }

  /** Ends every login of an account. @throws AppError `NOT_FOUND`; `FORBIDDEN` for that of a superuser, unless by one */
  async endLogins({ account: caller }: Principal, id: number): Promise<void> {
    const { isSuperuser } = await this.search.findOne(id);
    if (isSuperuser && !caller.isSuperuser) throw new AppError('FORBIDDEN', ERRORS.FORBIDDEN.message);
    const traces = { ...tracesOf(id), security: ['logins_ended'] } as const;
    await this.changes.run(id, traces, (account) => this.data.endLogins(account));
  }

  /**
   * Takes the second factor and the passkeys of a person away who has lost them, and ends the logins.
   *
   * @throws AppError `NOT_FOUND`, `FORBIDDEN` without a recent login, `CONFLICT` for one's own account
   */
  async resetFactors(caller: Principal, id: number, proof: RecentInput, client: ClientInfo): Promise<void> {
    await this.search.findOne(id);
    await this.recent.require(caller, proof, client);
    if (id === caller.account.id) throw new AppError('CONFLICT', OWN_ACCOUNT);
    const traces = { ...tracesOf(id), security: ['factor_changed', 'reset by staff'] } as const;
    await this.changes.run(id, traces, async (account) => {
      await this.data.resetFactors(account);
      await this.data.endLogins(account);
    });
  }

  /** Of two superusers who deactivate each other at the same time, one stays. */
  private async requireAnotherSuperuser({ id }: Account): Promise<void> {
    const superusers = await this.accounts.lockActiveSuperusers();
    if (superusers.every((each) => each === id)) throw new AppError('CONFLICT', LAST_SUPERUSER);
  }
}

const tracesOf = (id: number) => ({ subject: `/auth/accounts/${id}`, deleted: noSuchAccount });
