import { Injectable } from '@nestjs/common';
import { auditAnonymously } from '../../common/ports/audit-trail.js';
import { Clock } from '../../common/ports/clock.js';
import { AppError } from '../../common/errors/errors.js';
import type { ClientInfo } from '../../common/http/client.js';
import type { Principal } from '../access/index.js';
import { accountDeleted, AccountsService, Credentials, NO_PASSWORD } from '../accounts/index.js';
import { Logins } from '../logins/index.js';
import { AccountRemoval } from './account-removal.js';
import type { DeleteAccountInput } from './profile.input.js';

/** The maximum age of the login with which an account without a password may be deleted, in milliseconds. */
const MAX_LOGIN_AGE = 5 * 60_000;

export const LOGIN_TOO_OLD =
  'Log in again first: the account has no password, and the login is older than 5 minutes';

/** Deletion of accounts by their owners. */
@Injectable()
export class AccountDeletions {
  constructor(
    private readonly accounts: AccountsService,
    private readonly credentials: Credentials,
    private readonly logins: Logins,
    private readonly removal: AccountRemoval,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws IncorrectPassword
   * @throws AppError `VALIDATION_ERROR` if the account has a password and none is given, `FORBIDDEN` when the
   * login is too old, `UNAUTHENTICATED` when the account was deleted concurrently
   */
  async delete(
    { account, sid }: Principal,
    { password }: DeleteAccountInput,
    client: ClientInfo,
  ): Promise<void> {
    if (account.passwordHash === NO_PASSWORD) {
      const since = new Date(this.clock.now().getTime() - MAX_LOGIN_AGE);
      const isFresh = sid !== undefined && (await this.logins.isOpenSince(account.id, sid, since));
      if (!isFresh && !(await this.accounts.exists(account.id))) throw accountDeleted();
      if (!isFresh) throw new AppError('FORBIDDEN', LOGIN_TOO_OLD);
    } else {
      if (password == null) throw missingPassword();
      await this.credentials.confirm(account, password, client);
    }
    auditAnonymously();
    await this.removal.remove(account);
  }
}

function missingPassword(): AppError {
  const message = 'password must be a string';
  return new AppError('VALIDATION_ERROR', message, { details: [{ field: 'password', message }] });
}
