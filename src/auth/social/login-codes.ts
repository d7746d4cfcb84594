import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError, ERRORS } from '../../platform/http/errors/errors.js';
import { isForeignKeyViolation } from '../../platform/database/failures.js';
import { Transactions } from '../../platform/database/transactions.js';
import { type Account, AccountsService } from '../accounts/index.js';
import { Logins } from '../logins/index.js';
import { LoginCode } from './login-code.entity.js';
import type { ExchangeInput } from './social.input.js';

export const WRONG_LOGIN_CODE = 'The code is invalid, has expired or was used, or its code_verifier is wrong';

/** In milliseconds: a page exchanges its code as soon as it is loaded. */
const LIFETIME = 60_000;

/** One-time codes that a front end exchanges for tokens after a social login. The database has their hashes. */
@Injectable()
export class LoginCodes {
  constructor(
    @InjectRepository(LoginCode) private readonly codes: Repository<LoginCode>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly accounts: AccountsService,
    logins: Logins,
  ) {
    logins.onEndAll((accountId) => this.endAll(accountId));
  }

  /**
   * @param codeChallenge of the client that may exchange the code (S256, RFC 7636)
   * @throws AppError `UNAUTHENTICATED` when the account has just been deleted
   */
  async issue({ id, passwordChangedAt }: Account, codeChallenge?: string): Promise<string> {
    const code = randomBytes(32).toString('base64url');
    const expiresAt = new Date(this.clock.now().getTime() + LIFETIME);
    try {
      await this.codes.insert({
        id: hash(code),
        accountId: id,
        codeChallenge: codeChallenge ?? null,
        passwordChangedAt,
        expiresAt,
      });
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message, { cause: error });
    }
    return code;
  }

  /** Deletes the codes of an account that have not been exchanged. */
  private async endAll(accountId: number): Promise<void> {
    await this.codes.delete({ accountId });
  }

  /**
   * Consumes a code, if the verifier is the one of its challenge, in one statement: of any number of concurrent attempts,
   * exactly one succeeds.
   *
   * @throws AppError `INVALID_CODE` unless the code is valid and unused, and its account may still log in with it
   */
  async redeem({ code, code_verifier }: ExchangeInput): Promise<Account> {
    // SQL, because TypeORM rejects `DELETE … RETURNING` on SQLite.
    const [row] = await this.transactions.execute<{ accountId: number; passwordChangedAt: string }>(
      `DELETE FROM login_codes WHERE id = :hash AND expires_at > :now
         AND code_challenge IS NOT DISTINCT FROM CAST(:challenge AS text)
       RETURNING account_id AS "accountId", password_changed_at AS "passwordChangedAt"`,
      {
        hash: hash(code),
        challenge: code_verifier == null ? null : hash(code_verifier),
        now: this.clock.now().toISOString(),
      },
    );
    const account = row && (await this.accounts.findOne(row.accountId));
    const isSame = account?.passwordChangedAt.getTime() === Date.parse(row?.passwordChangedAt ?? '');
    // A second factor that was turned on after the code was issued has not been checked.
    if (!account?.isActive || !isSame || account.hasSecondFactor)
      throw new AppError('INVALID_CODE', WRONG_LOGIN_CODE);
    return account;
  }
}

const hash = (code: string): string => createHash('sha256').update(code).digest('base64url');
