import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../platform/http/request-context.js';
import type { Account } from '../account.entity.js';
import { AccountsService } from '../accounts.service.js';
import { emailKey } from '../email-address.js';
import { badCredentials } from '../login.errors.js';
import { type CountedAttempt, LoginThrottle } from './login-throttle.js';
import { Passwords } from './passwords.js';
import { OwnedByAccount, type OwnedData, RecentLogins } from '../../platform/access/index.js';
import { SecurityEvents } from '../../platform/http/security-events.js';

/** Logins by e-mail and password. */
@Injectable()
@OwnedByAccount()
export class PasswordLogins implements OwnedData {
  constructor(
    private readonly accounts: AccountsService,
    private readonly passwords: Passwords,
    private readonly throttle: LoginThrottle,
    private readonly security: SecurityEvents,
    recent: RecentLogins,
  ) {
    recent.register({
      password: (...given) => this.confirm(...given),
      identify: (...given) => this.authenticate(...given),
    });
  }

  async waysToLogIn(account: Account): Promise<number> {
    return (await this.accounts.hasPassword(account)) ? 1 : 0;
  }

  /**
   * An unknown e-mail, a wrong password and an inactive account cause the same error, after
   * the same work.
   */
  async authenticate(email: string, password: string, client: ClientInfo): Promise<Account> {
    const account = await this.accounts.findForLogin(email);
    const hash = account?.passwordHash;
    const matches = await this.compare(email, account, { password, hash }, client);
    if (matches && account && !account.isActive) {
      this.security.record('login_failed', { accountId: account.id, reason: 'inactive' });
    }
    if (!matches || !account?.isActive) throw badCredentials();
    const renewed = await this.passwords.renew(password, hash!);
    if (renewed !== undefined) await this.accounts.replaceHash(account, hash!, renewed);
    return account;
  }

  /**
   * Checks the password of a logged-in account again. Wrong passwords count as failed logins.
   *
   * @throws IncorrectPassword; AppError `UNAUTHENTICATED` if the account has been deleted meanwhile
   */
  async confirm(account: Account, password: string, client: ClientInfo): Promise<void> {
    const hash = await this.accounts.passwordHashOf(account);
    if (!(await this.compare(account.email, account, { password, hash }, client)))
      throw await this.accounts.incorrectPassword(account.id);
  }

  private async compare(
    email: string,
    account: Account | null,
    { password, hash }: { readonly password: string; readonly hash: string | undefined },
    { address }: ClientInfo,
  ): Promise<boolean> {
    const attempt = { emailKey: emailKey(email), accountId: account?.id, address };
    await this.throttle.assertNotBlocked(attempt);
    let counted: CountedAttempt | undefined;
    const matches = await this.passwords.matches(password, hash, address, async () => {
      counted = await this.throttle.count(attempt);
    });
    if (!matches) {
      const reason = account ? 'wrong password' : 'unknown account';
      this.security.record('login_failed', { accountId: account?.id, email: attempt.emailKey, reason });
    } else if (account?.isActive) {
      // With a second factor, only its code clears the count.
      await this.throttle.succeed(counted!, { clearsPair: !account.hasSecondFactor });
    }
    return matches;
  }
}
