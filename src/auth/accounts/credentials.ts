import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors/errors.js';
import type { ClientInfo } from '../../common/http/client.js';
import type { Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { emailKey } from './email.js';
import { LoginThrottle } from './login-throttle.js';
import { Passwords } from './passwords/passwords.js';

/** Finds the account of an e-mail and a password, for every way of logging in with them. */
@Injectable()
export class Credentials {
  constructor(
    private readonly accounts: AccountsService,
    private readonly passwords: Passwords,
    private readonly throttle: LoginThrottle,
  ) {}

  /**
   * Nobody can tell an unknown e-mail from a wrong password or an inactive account: the same refusal, after
   * the same work.
   *
   * @throws AppError `UNAUTHENTICATED`, `RATE_LIMITED` after too many failures, `SERVICE_UNAVAILABLE` when
   * too many are waiting already
   */
  async check(email: string, password: string, { address }: ClientInfo): Promise<Account> {
    const attempt = { emailKey: emailKey(email), address };
    await this.throttle.refuseWhileBlocked(attempt);
    const account = await this.accounts.findByEmail(email);
    const matches = await this.passwords.matches(password, account?.passwordHash, () =>
      this.throttle.count(attempt),
    );
    if (!matches || !account?.isActive) throw badCredentials();

    await this.throttle.clear(attempt);
    await this.accounts.renewHash(account, password);
    return account;
  }
}

export const badCredentials = (): AppError =>
  new AppError('UNAUTHENTICATED', 'The e-mail or the password is not right');
