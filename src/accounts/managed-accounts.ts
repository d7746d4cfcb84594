import { Injectable } from '@nestjs/common';
import { type Principal, type RecentInput, RecentLogins } from '../platform/access/index.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import type { ClientInfo } from '../platform/http/request-context.js';
import { AccountAdmin, OWN_ACCOUNT } from './account-admin.js';
import type { Account } from './account.entity.js';
import type { ManageAccountInput } from './account.input.js';
import { AccountSearch } from './account-search.js';

/** What staff and superusers do to accounts over HTTP: who may, and to whose account. `AccountAdmin` has the rest. */
@Injectable()
export class ManagedAccounts {
  constructor(
    private readonly search: AccountSearch,
    private readonly admin: AccountAdmin,
    private readonly recent: RecentLogins,
  ) {}

  /** Sets the rights of an account. @throws AppError `NOT_FOUND`, `FORBIDDEN` without a recent login, `CONFLICT` */
  async update(
    caller: Principal,
    id: number,
    { is_active, is_staff, ...proof }: ManageAccountInput,
    client: ClientInfo,
  ): Promise<Account> {
    const seen = await this.search.get(id);
    if (is_active == null && is_staff == null) return seen;
    await this.recent.require(caller, proof, client);
    if (is_active === false) requireAnother(caller, id);
    return this.admin.setRights(seen, {
      ...(is_active != null && { isActive: is_active }),
      ...(is_staff != null && { isStaff: is_staff }),
    });
  }

  /** Ends every login of an account. @throws AppError `NOT_FOUND`; `FORBIDDEN` for that of a superuser, unless by one */
  async endSessions({ account: caller }: Principal, id: number): Promise<void> {
    const account = await this.search.get(id);
    if (account.isSuperuser && !caller.isSuperuser) throw new AppError('FORBIDDEN', ERRORS.FORBIDDEN.message);
    await this.admin.endSessions(account);
  }

  /** @throws AppError `NOT_FOUND`, `FORBIDDEN` without a recent login, `CONFLICT` for one's own account */
  async resetFactors(caller: Principal, id: number, proof: RecentInput, client: ClientInfo): Promise<void> {
    const account = await this.search.get(id);
    await this.recent.require(caller, proof, client);
    requireAnother(caller, id);
    await this.admin.resetFactors(account);
  }
}

function requireAnother({ account }: Principal, id: number): void {
  if (id === account.id) throw new AppError('CONFLICT', OWN_ACCOUNT);
}
