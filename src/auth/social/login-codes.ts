import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../platform/database/failures.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { type Account } from '../../accounts/account.entity.js';
import { accountDeleted, AccountsService } from '../../accounts/accounts.service.js';
import { OneTimeSecrets } from '../../accounts/one-time-secrets.js';
import { Authenticated, challengeOf } from '../login/login-steps.js';
import type { ExchangeInput } from './social.input.js';

export const WRONG_LOGIN_CODE = 'The code is invalid, has expired or was used, or its code_verifier is wrong';

const PURPOSE = 'social-login';

/** In milliseconds: a page exchanges its code as soon as it is loaded. */
const LIFETIME = 60_000;

/** One-time codes that a front end exchanges for tokens after a social login. */
@Injectable()
export class LoginCodes {
  constructor(
    private readonly secrets: OneTimeSecrets,
    private readonly accounts: AccountsService,
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

  /** Ends the codes of an account that have not been exchanged. */
  async endAll({ id }: Pick<Account, 'id'>): Promise<void> {
    await this.secrets.end(id, PURPOSE);
  }

  /** Uses a code, if the verifier is the one of its challenge. */
  async redeem({ code, code_verifier: verifier }: ExchangeInput): Promise<Authenticated> {
    const codeChallenge = verifier == null ? null : challengeOf(verifier);
    const used = await this.secrets.use(PURPOSE, code, codeChallenge);
    const account = used && (await this.accounts.findOne(used.accountId));
    const isSame = account?.passwordChangedAt.getTime() === Date.parse(used?.passwordChangedAt ?? '');
    // A second factor that was turned on after the code was issued has not been checked.
    if (!account?.isActive || !isSame || account.hasSecondFactor)
      throw new AppError('INVALID_CODE', WRONG_LOGIN_CODE);
    return new Authenticated(account);
  }
}
