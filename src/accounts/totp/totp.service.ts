import { Injectable } from '@nestjs/common';
import {
  AccountData,
  OwnedByAccount,
  type OwnedData,
  type Principal,
  RecentLogins,
  WRONG_CODE,
} from '../../platform/access/index.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { AccountChanges } from '../account-changes.js';
import type { Account } from '../account.entity.js';
import { accountDeleted, AccountsService } from '../accounts.service.js';
import { CodeChecks } from './code-checks.js';
import { TotpFactors } from './totp-factors.js';
import type { CodeInput, RecentCodeInput } from './totp.input.js';
import type { FactorsView, TotpSetupView } from './totp.view.js';

export const ALREADY_ON = 'Two-step login is already on; turn it off first';

/** What owners of accounts do with their authenticator app. */
@Injectable()
@OwnedByAccount()
export class TotpService implements OwnedData {
  readonly tables = ['totp_factors'];

  constructor(
    private readonly factors: TotpFactors,
    private readonly checks: CodeChecks,
    private readonly recent: RecentLogins,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
    private readonly accounts: AccountsService,
    private readonly transactions: Transactions,
    private readonly security: SecurityEvents,
  ) {}

  async find(account: Account): Promise<FactorsView> {
    return {
      totp: account.hasSecondFactor,
      recovery_codes_left: await this.factors.recoveryCodesLeft(account.id),
      passkeys: await this.data.count('passkeys', account),
    };
  }

  /** Creates the secret of an authenticator app. Nothing is on until {@link confirm}. */
  setUp({ id }: Pick<Account, 'id'>): Promise<TotpSetupView> {
    return this.changes.run(id, {}, async (account) => {
      if (account.hasSecondFactor) throw new AppError('CONFLICT', ALREADY_ON);
      return this.factors.create(account);
    });
  }

  /**
   * Turns the factor on with a first code, and ends all other logins. A wrong code counts for the secret only: the caller
   * need not be recent, and whoever has an old token must not use up the codes of the owner.
   *
   * @returns the recovery codes
   */
  async confirm(caller: Principal, { code }: CodeInput): Promise<string[]> {
    const { id } = caller.account;
    const codes = await this.transactions.run(async () => {
      if (!(await this.accounts.lock(id))) throw accountDeleted();
      if (!(await this.factors.acceptFirst(id, code))) return undefined;
      return this.changes.addAccess(caller, { notice: 'factor-added' }, async (account) => {
        await this.data.endSessions(account, caller.sid);
        return this.factors.confirm(account);
      });
    });
    this.security.record(codes ? 'factor_changed' : 'code_failed', {
      accountId: id,
      ...(codes && { reason: 'TOTP on' }),
    });
    if (!codes) throw new AppError('INVALID_CODE', WRONG_CODE);
    return codes;
  }

  /** Replaces the recovery codes. */
  async renewRecoveryCodes(caller: Principal, input: RecentCodeInput, client: ClientInfo): Promise<string[]> {
    const codes = await this.checks.check(caller.account, input.code, client, {
      recovery: false,
      change: 'recovery codes renewed',
      work: ({ id }) => this.changes.run(id, {}, () => this.factors.renewRecoveryCodes(id)),
    });
    await this.recent.confirm(caller);
    return codes;
  }

  /** Turns the factor off. */
  async remove(caller: Principal, input: RecentCodeInput, client: ClientInfo): Promise<void> {
    await this.checks.check(caller.account, input.code, client, {
      change: 'TOTP off',
      work: ({ id }) => this.changes.run(id, { notice: 'factor-removed' }, () => this.factors.remove(id)),
    });
    await this.recent.confirm(caller);
  }

  async otherAccess({ hasSecondFactor }: Account): Promise<number> {
    return hasSecondFactor ? 1 : 0;
  }

  onOwnerConfirmed(account: Account): Promise<void> {
    return this.factors.markUnconfirmed(account);
  }

  async onReset(account: Account): Promise<void> {
    if (!account.isOwnerConfirmed || (await this.factors.hasUnconfirmed(account)))
      await this.takeAway(account, 'removed by a reset of the password');
  }

  onDevicesLost(account: Account): Promise<void> {
    return this.takeAway(account, 'reset by staff');
  }

  private async takeAway(account: Account, reason: string): Promise<void> {
    const security = ['factor_changed', reason] as const;
    if (account.hasSecondFactor) await this.changes.report(account, { notice: 'factor-removed', security });
    await this.factors.remove(account.id);
  }
}
