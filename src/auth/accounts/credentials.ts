import { Injectable } from '@nestjs/common';
import { runWithoutTrail } from '../../common/audit/audit-trail.js';
import { AppError } from '../../common/errors/errors.js';
import type { ClientInfo } from '../../common/request/client.js';
import { Config } from '../../config/config.js';
import type { Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { emailKey } from './email.js';
import { IncorrectPassword } from './incorrect-password.js';
import { LoginThrottle } from './login-throttle.js';
import { Passwords } from './passwords/passwords.js';

/** Finds the account of an e-mail and a password, for every way of logging in with them. */
@Injectable()
export class Credentials {
  constructor(
    private readonly accounts: AccountsService,
    private readonly passwords: Passwords,
    private readonly throttle: LoginThrottle,
    private readonly config: Config,
  ) {}

  /**
   * Nobody can tell an unknown e-mail from a wrong password or an inactive account: the same rejection, after
   * the same work.
   *
   * @throws AppError as {@link identify}, and `FORBIDDEN` where only verified e-mails may log in
   */
  async check(email: string, password: string, client: ClientInfo): Promise<Account> {
    const account = await this.identify(email, password, client);
    if (this.config.requireVerifiedEmail && !account.isEmailVerified) {
      throw new AppError('FORBIDDEN', EMAIL_NOT_VERIFIED);
    }
    return account;
  }

  /**
   * As {@link check}, for someone who may be unable to log in because their e-mail is not verified.
   *
   * @throws AppError `UNAUTHENTICATED`, `RATE_LIMITED` after too many failures, `SERVICE_UNAVAILABLE` when
   * too many are waiting already
   */
  async identify(email: string, password: string, client: ClientInfo): Promise<Account> {
    const account = await this.accounts.findByEmail(email);
    const matches = await this.compare(email, account, password, client);
    if (!matches || !account?.isActive) throw badCredentials();
    await this.accounts.renewHash(account, password);
    return account;
  }

  /**
   * Asks someone who is logged in for their password again. Wrong ones count as failed logins.
   *
   * @throws IncorrectPassword; AppError `RATE_LIMITED`, `SERVICE_UNAVAILABLE`
   */
  async confirm(account: Account, password: string, client: ClientInfo): Promise<void> {
    if (!(await this.compare(account.email, account, password, client))) throw new IncorrectPassword();
  }

  private async compare(
    email: string,
    account: Account | null,
    password: string,
    { address }: ClientInfo,
  ): Promise<boolean> {
    const attempt = { emailKey: emailKey(email), address };
    await this.throttle.assertNotBlocked(attempt);
    const matches = await this.passwords.matches(password, account?.passwordHash, address, () =>
      runWithoutTrail(() => this.throttle.count(attempt)),
    );
    if (matches && account?.isActive) await runWithoutTrail(() => this.throttle.clear(attempt));
    return matches;
  }
}

export const EMAIL_NOT_VERIFIED = 'Confirm your e-mail address first: a mail with a link was sent to it';

export const badCredentials = (): AppError =>
  new AppError('UNAUTHENTICATED', 'The e-mail or the password is wrong');
