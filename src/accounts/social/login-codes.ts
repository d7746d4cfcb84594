import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../platform/database/failures.js';
import { Transactions } from '../../platform/database/transactions.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { type Account } from '../account.entity.js';
import { accountDeleted, AccountsService } from '../accounts.service.js';
import { OneTimeSecrets } from '../one-time-secrets.js';
import { challengeOf } from '../login/login-steps.js';
import type { ExchangeInput } from './social.input.js';
import { Authenticated } from '../sessions.service.js';
import { OwnedByAccount, type OwnedData } from '../../platform/access/index.js';

export const WRONG_LOGIN_CODE = 'The code is invalid, has expired or was used, or its code_verifier is wrong';

const PURPOSE = 'social-login';

/** In milliseconds: a page exchanges its code as soon as it is loaded. */
const LIFETIME = 60_000;

/** One-time codes that a front end exchanges for tokens after a social login. */
@Injectable()
@OwnedByAccount()
export class LoginCodes implements OwnedData {
  constructor(
    private readonly secrets: OneTimeSecrets,
    private readonly accounts: AccountsService,
    private readonly transactions: Transactions,
  ) {}

  /** @param codeChallenge of the client that may exchange the code (S256, RFC 7636) */
  async issue({ id: accountId, passwordChangedAt }: Account, codeChallenge?: string): Promise<string> {
    const secret = {
      purpose: PURPOSE,
      accountId,
      passwordChangedAt,
      codeChallenge: codeChallenge ?? null,
    } as const;
    try {
      return await this.secrets.issue(secret, LIFETIME);
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw accountDeleted();
    }
  }

  /** Codes that have not been exchanged end, too. */
  async onSessionsEnd({ id }: Pick<Account, 'id'>): Promise<void> {
    await this.secrets.end(id, PURPOSE);
  }

  /**
   * Uses a code, if the verifier is the one of its challenge.
   *
   * @param open runs in the same transaction: a code whose login could not begin stays usable
   */
  async redeem<T>(
    { code, code_verifier: verifier }: ExchangeInput,
    open: (authenticated: Authenticated) => Promise<T>,
  ): Promise<T> {
    const codeChallenge = verifier == null ? null : challengeOf(verifier);
    const found = await this.secrets.find(PURPOSE, code);
    if (found?.accountId == null) throw wrongCode();
    const { accountId, passwordChangedAt } = found;
    return this.transactions.run(async () => {
      // Locked first, as by whatever ends its codes.
      const account = await this.accounts.lock(accountId);
      const used = account && (await this.secrets.use(PURPOSE, code, codeChallenge));
      const isSame = account?.passwordChangedAt.getTime() === passwordChangedAt?.getTime();
      // A second factor that was turned on after the code was issued has not been checked.
      if (!used || !account.isActive || !isSame || account.hasSecondFactor) throw wrongCode();
      return open(new Authenticated(account));
    });
  }
}

const wrongCode = (): AppError => new AppError('INVALID_CODE', WRONG_LOGIN_CODE);
