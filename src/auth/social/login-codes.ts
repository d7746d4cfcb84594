import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock/clock.js';
import { Transactions } from '../../database/transactions.js';
import type { Account } from '../accounts/index.js';

/** In milliseconds: a page exchanges its code as soon as it is loaded. */
const LIFETIME = 60_000;

/** One-time codes, by which a front end gets the tokens of who was sent there. The database has their hashes. */
@Injectable()
export class LoginCodes {
  constructor(
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  async issue({ id }: Account): Promise<string> {
    const code = randomBytes(32).toString('base64url');
    await this.transactions.execute(
      'INSERT INTO login_codes (id, account_id, expires_at) VALUES (:hash, :id, :expiresAt)',
      { hash: hash(code), id, expiresAt: new Date(this.clock.now().getTime() + LIFETIME).toISOString() },
    );
    return code;
  }

  /** Whose code it is, once: in one statement, so that of any number of attempts at once exactly one succeeds. */
  async redeem(code: string): Promise<number | undefined> {
    const [row] = await this.transactions.execute<{ accountId: number }>(
      'DELETE FROM login_codes WHERE id = :hash AND expires_at > :now RETURNING account_id AS "accountId"',
      { hash: hash(code), now: this.clock.now().toISOString() },
    );
    return row?.accountId;
  }
}

const hash = (code: string): string => createHash('sha256').update(code).digest('base64url');
