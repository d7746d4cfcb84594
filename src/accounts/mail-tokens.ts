import { Injectable } from '@nestjs/common';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import { Transactions } from '../platform/database/transactions.js';
import { Clock } from '../platform/jobs/clock.js';
import { type Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { OneTimeSecrets } from './one-time-secrets.js';

const HOUR = 3600_000;

/** How long a token is valid, in milliseconds. */
const LIFETIMES = { 'verify-email': 24 * HOUR, 'change-email': 24 * HOUR, 'reset-password': HOUR };

/** What a token of a mail allows. */
export type TokenPurpose = keyof typeof LIFETIMES;

const PURPOSES = Object.keys(LIFETIMES) as TokenPurpose[];

/** A valid token. */
export interface MailToken {
  readonly purpose: TokenPurpose;
  readonly text: string;
  readonly accountId: number;
  /** The recipient's address. */
  readonly email: string;
}

/** The tokens in mails. Whoever has one can read the mails of its address. */
@Injectable()
export class MailTokens {
  constructor(
    private readonly secrets: OneTimeSecrets,
    private readonly accounts: AccountsService,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a token, which replaces the one of the same purpose.
   *
   * @param email the recipient's address
   * @param isWanted whether the account, in its current state, may still get the token; called in the transaction of the
   * token
   * @returns `undefined` if not
   */
  async issue(
    accountId: number,
    purpose: TokenPurpose,
    email: string,
    isWanted: (account: Account) => boolean | Promise<boolean>,
  ): Promise<string | undefined> {
    return this.transactions.run(async () => {
      const account = await this.accounts.lock(accountId);
      if (!account?.isActive || !(await isWanted(account))) return undefined;
      await this.secrets.end(accountId, purpose);
      return this.secrets.issue({ purpose, accountId, email }, LIFETIMES[purpose]);
    });
  }

  /** Reads a token, which stays usable. */
  async find(purpose: TokenPurpose, text: string): Promise<MailToken> {
    const found = await this.secrets.find(purpose, text);
    if (!found?.expiresAt || found.expiresAt <= this.clock.now()) throw invalidCode();
    return { purpose, text, accountId: found.accountId!, email: found.email! };
  }

  /**
   * Uses a token, in a unit of work with the change that it allows.
   *
   * @param account locked
   */
  async use({ purpose, text }: MailToken, { isActive }: Account): Promise<void> {
    const used = await this.secrets.use(purpose, text);
    if (!used || !isActive) throw invalidCode();
  }

  /** Ends all tokens of an account, because its password or e-mail changes. */
  async endAll(accountId: number): Promise<void> {
    await this.secrets.end(accountId, ...PURPOSES);
  }
}

export const invalidCode = (): AppError => new AppError('INVALID_CODE', ERRORS.INVALID_CODE.message);
