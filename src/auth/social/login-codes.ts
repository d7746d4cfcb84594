import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../common/clock/clock.js';
import { AppError } from '../../common/errors/errors.js';
import { MESSAGES } from '../../common/errors/messages.js';
import { isForeignKeyViolation } from '../../database/failures.js';
import { Transactions } from '../../database/transactions.js';
import type { Account } from '../accounts/index.js';
import { LoginCode } from './login-code.entity.js';

/** In milliseconds: a page exchanges its code as soon as it is loaded. */
const LIFETIME = 60_000;

/** One-time codes, by which a front end gets the tokens of who was sent there. The database has their hashes. */
@Injectable()
export class LoginCodes {
  constructor(
    @InjectRepository(LoginCode) private readonly codes: Repository<LoginCode>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `UNAUTHENTICATED` when the account was deleted at this moment */
  async issue({ id }: Account): Promise<string> {
    const code = randomBytes(32).toString('base64url');
    const expiresAt = new Date(this.clock.now().getTime() + LIFETIME);
    try {
      await this.codes.insert({ id: hash(code), accountId: id, expiresAt });
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('UNAUTHENTICATED', MESSAGES.UNAUTHENTICATED, { cause: error });
    }
    return code;
  }

  /** Ends the codes of an account that have not been exchanged. */
  async endAll(accountId: number): Promise<void> {
    await this.codes.delete({ accountId });
  }

  /** Whose code it is, once: in one statement, so that of any number of attempts at once exactly one succeeds. */
  async redeem(code: string): Promise<number | undefined> {
    // SQL, because TypeORM rejects `DELETE … RETURNING` on SQLite.
    const [row] = await this.transactions.execute<{ accountId: number }>(
      'DELETE FROM login_codes WHERE id = :hash AND expires_at > :now RETURNING account_id AS "accountId"',
      { hash: hash(code), now: this.clock.now().toISOString() },
    );
    return row?.accountId;
  }
}

const hash = (code: string): string => createHash('sha256').update(code).digest('base64url');
