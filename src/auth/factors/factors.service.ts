import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import type { Principal } from '../../platform/access/index.js';
import { AccountMails } from '../account-mails/index.js';
import { type Account, accountDeleted, AccountsService } from '../accounts/index.js';
import { Logins, type RecentInput, RecentLogins } from '../logins/index.js';
import { Passkeys } from '../passkeys/index.js';
import { SecondFactors, wrongCode } from '../second-factors/index.js';
import type { CodeInput, RecentCodeInput } from './factor.input.js';
import type { FactorsView, TotpSetupView } from './factor.view.js';

export const ALREADY_ON = 'Two-step login is already on; turn it off first';

/** What owners of accounts do with their second factor. */
@Injectable()
export class FactorsService {
  constructor(
    private readonly factors: SecondFactors,
    private readonly passkeys: Passkeys,
    private readonly accounts: AccountsService,
    private readonly logins: Logins,
    private readonly recent: RecentLogins,
    private readonly mails: AccountMails,
    private readonly security: SecurityEvents,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  async find({ id, hasSecondFactor }: Account): Promise<FactorsView> {
    return {
      totp: hasSecondFactor,
      recovery_codes_left: await this.factors.recoveryCodesLeft(id),
      passkeys: await this.passkeys.count(id),
    };
  }

  /**
   * Creates the secret of an authenticator app. Nothing is on until {@link confirm}.
   *
   * @throws IncorrectPassword; AppError `FORBIDDEN` without a recent login, `CONFLICT` when it is already on
   */
  async setUp(caller: Principal, input: RecentInput, client: ClientInfo): Promise<TotpSetupView> {
    await this.recent.require(caller, input, client);
    return this.transactions.run(async () => {
      const account = await this.accounts.lock(caller.account.id);
      if (!account) throw accountDeleted();
      if (account.hasSecondFactor) throw new AppError('CONFLICT', ALREADY_ON);
      await this.changes.record();
      return this.factors.create(account);
    });
  }

  /**
   * Turns the factor on with a first code, and ends all other logins.
   *
   * @returns the recovery codes
   * @throws AppError `INVALID_CODE`, `RATE_LIMITED`
   */
  async confirm({ account, sid }: Principal, { code }: CodeInput, client: ClientInfo): Promise<string[]> {
    const codes = await this.factors.verify(account, code, client, {
      pending: true,
      wrong: wrongCode,
      work: async (current) => {
        await this.logins.requireOpen(sid);
        await this.logins.endAll(current.id, sid);
        await this.mails.notify(current, 'factor-added');
        await this.changes.record();
        return this.factors.confirm(current);
      },
    });
    this.security.record('factor_changed', { accountId: account.id, reason: 'TOTP on' });
    return codes;
  }

  /**
   * Replaces the recovery codes.
   *
   * @throws IncorrectPassword; AppError `FORBIDDEN` without a recent login, `INVALID_CODE`, `RATE_LIMITED`
   */
  async renewRecoveryCodes(caller: Principal, input: RecentCodeInput, client: ClientInfo): Promise<string[]> {
    await this.recent.requirePassword(caller, input.password, client);
    const codes = await this.factors.verify(caller.account, input.code, client, {
      recovery: false,
      wrong: wrongCode,
      work: async ({ id }) => {
        await this.changes.record();
        return this.factors.renewRecoveryCodes(id);
      },
    });
    this.security.record('factor_changed', {
      accountId: caller.account.id,
      reason: 'recovery codes renewed',
    });
    await this.confirmLogin(caller.sid);
    return codes;
  }

  /** Turns the factor off. @throws as {@link renewRecoveryCodes} */
  async remove(caller: Principal, input: RecentCodeInput, client: ClientInfo): Promise<void> {
    await this.recent.requirePassword(caller, input.password, client);
    await this.factors.verify(caller.account, input.code, client, {
      wrong: wrongCode,
      work: async (current) => {
        await this.factors.remove(current.id);
        await this.mails.notify(current, 'factor-removed');
        await this.changes.record();
      },
    });
    this.security.record('factor_changed', { accountId: caller.account.id, reason: 'TOTP off' });
    await this.confirmLogin(caller.sid);
  }

  /** A checked code makes the login a recent one. */
  private async confirmLogin(sid: string | undefined): Promise<void> {
    if (sid !== undefined) await this.logins.confirm(sid);
  }
}
