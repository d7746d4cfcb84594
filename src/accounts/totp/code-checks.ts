import { Injectable } from '@nestjs/common';
import { RecentLogins, WRONG_CODE } from '../../platform/access/index.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { AccountMails } from '../account-mails.js';
import { type Account } from '../account.entity.js';
import { emailKey } from '../email-address.js';
import { accountDeleted, AccountsService } from '../accounts.service.js';
import { LoginThrottle } from '../password/login-throttle.js';
import { TotpFactors } from './totp-factors.js';

const TOTP_CODE = /^\d{6}$/;

/** After so many wrong codes of the app, the owner gets a notice: whoever enters them has the password. */
const NOTICE_AFTER = 5;

interface CheckOptions<T> {
  /** Whether a recovery code is accepted as well. */
  readonly recovery?: boolean;
  /** Whether the code completes a login: another error then, and the failures of the login are forgotten. */
  readonly isLogin?: boolean;
  /** Why the security event `factor_changed` is recorded after the commit, if it is. */
  readonly change?: string;
  /** Runs in the same transaction, with the account locked. */
  readonly work: (account: Account) => Promise<T>;
}

/** Checks codes of authenticator apps, and recovery codes. */
@Injectable()
export class CodeChecks {
  constructor(
    private readonly factors: TotpFactors,
    private readonly accounts: AccountsService,
    private readonly throttle: LoginThrottle,
    private readonly mails: AccountMails,
    private readonly transactions: Transactions,
    private readonly security: SecurityEvents,
    recent: RecentLogins,
  ) {
    recent.register({
      code: (account, code, client) => this.check(account, code, client, { work: async () => undefined }),
    });
  }

  /**
   * Checks a code with the account locked, then runs further work in the same transaction. Wrong codes count as failed
   * logins; codes that could not be checked do not. Six digits are a code of the app, whose wrong ones also count for the
   * account, from any address; anything else is a recovery code.
   */
  async check<T>(
    { id, email }: Account,
    code: string,
    { address }: ClientInfo,
    { recovery = true, isLogin = false, change, work }: CheckOptions<T>,
  ): Promise<T> {
    const isCode = TOTP_CODE.test(code.replaceAll(' ', ''));
    const attempt = { emailKey: emailKey(email), accountId: id, address, isCode };
    await this.throttle.assertNotBlocked(attempt);
    // Before the outcome is known, so that concurrent attempts cannot exceed the limit.
    const counted = await this.throttle.count(attempt);
    let isWrong = false;
    const checked = this.transactions.run(async () => {
      const account = await this.accounts.lock(id);
      if (!account?.isActive || account.email !== email) throw accountDeleted();
      const isRight = isCode
        ? await this.factors.acceptTotp(id, code)
        : recovery && account.hasSecondFactor && (await this.factors.acceptRecovery(id, code));
      isWrong = !isRight;
      if (isRight) return { value: await work(account) };
      if (counted.codes === NOTICE_AFTER) await this.mails.notify(account, 'codes-wrong');
      return undefined;
    });
    const result = await checked.catch(async (error: unknown) => {
      // Failures of the service must not lock the owner out. During an outage, the caller gets the first error.
      if (!isWrong) await this.throttle.revert(counted).catch(() => undefined);
      throw error;
    });
    if (!result) {
      this.security.record('code_failed', { accountId: id });
      throw new AppError(isLogin ? 'UNAUTHENTICATED' : 'INVALID_CODE', WRONG_CODE);
    }
    await this.throttle.succeed(counted, { clearsPair: isLogin });
    if (change !== undefined) this.security.record('factor_changed', { accountId: id, reason: change });
    return result.value;
  }
}
