import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../common/ports/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { MESSAGES } from '../../common/errors/messages.js';
import { isForeignKeyViolation } from '../../database/failures.js';
import { Transactions } from '../../database/transactions.js';
import type { Account } from '../accounts/index.js';
import { Logins } from '../logins/index.js';
import { LoginCode } from './login-code.entity.js';

/** In milliseconds: a page exchanges its code as soon as it is loaded. */
const LIFETIME = 60_000;

/** One-time codes that a front end exchanges for tokens after a social login. The database has their hashes. */
@Injectable()
export class LoginCodes {
  constructor(
    @InjectRepository(LoginCode) private readonly codes: Repository<LoginCode>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    logins: Logins,
  ) {
    logins.onEndAll((accountId) => this.endAll(accountId));
  }

  /**
   * @param codeChallenge of the client that may exchange the code (S256, RFC 7636)
   * @throws AppError `UNAUTHENTICATED` when the account has just been deleted
   */
  async issue({ id }: Account, codeChallenge?: string): Promise<string> {
    const code = randomBytes(32).toString('base64url');
    const expiresAt = new Date(this.clock.now().getTime() + LIFETIME);
    try {
      await this.codes.insert({
        id: hash(code),
        accountId: id,
        codeChallenge: codeChallenge ?? null,
        expiresAt,
      });
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('UNAUTHENTICATED', MESSAGES.UNAUTHENTICATED, { cause: error });
    }
    return code;
  }

  /** Deletes the codes of an account that have not been exchanged. */
  private async endAll(accountId: number): Promise<void> {
    await this.codes.delete({ accountId });
  }

  /**
   * The account of a code, if the verifier is the one of its challenge. One statement consumes it: of any number of
   * concurrent attempts, exactly one succeeds.
   */
  async redeem(code: string, codeVerifier: string | undefined): Promise<number | undefined> {
    // SQL, because TypeORM rejects `DELETE … RETURNING` on SQLite.
    const [row] = await this.transactions.execute<{ accountId: number }>(
      `DELETE FROM login_codes WHERE id = :hash AND expires_at > :now
         AND code_challenge IS NOT DISTINCT FROM CAST(:challenge AS text)
       RETURNING account_id AS "accountId"`,
      {
        hash: hash(code),
        challenge: codeVerifier === undefined ? null : hash(codeVerifier),
        now: this.clock.now().toISOString(),
      },
    );
    return row?.accountId;
  }
}

const hash = (code: string): string => createHash('sha256').update(code).digest('base64url');
