import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError, ERRORS } from '../../platform/http/errors/errors.js';
import { Transactions } from '../../platform/database/transactions.js';
import { type Account, AccountsService } from '../accounts/index.js';
import { AccountToken, type TokenPurpose } from './account-token.entity.js';

const HOUR = 3600_000;

/** How long a token is valid, in milliseconds. */
const LIFETIMES: Readonly<Record<TokenPurpose, number>> = {
  'verify-email': 24 * HOUR,
  'change-email': 24 * HOUR,
  'reset-password': HOUR,
};

const TOKEN_BYTES = 32;

/** The tokens in mails. Each works once; the database has only their hashes. */
@Injectable()
export class AccountTokens {
  constructor(
    @InjectRepository(AccountToken) private readonly tokens: Repository<AccountToken>,
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
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const expiresAt = new Date(this.clock.now().getTime() + LIFETIMES[purpose]);
    return this.transactions.run(async () => {
      const account = await this.accounts.lock(accountId);
      if (!account?.isActive || !(await isWanted(account))) return undefined;
      await this.tokens.delete({ accountId, purpose });
      await this.tokens.insert({ id: hash(token), accountId, purpose, email, expiresAt });
      return token;
    });
  }

  /** Reads a token, which stays usable. @throws AppError `INVALID_CODE` when it is wrong, used or expired */
  async find(purpose: TokenPurpose, token: string): Promise<AccountToken> {
    const found = await this.tokens.findOneBy({
      id: hash(token),
      purpose,
      expiresAt: MoreThan(this.clock.now()),
    });
    if (!found) throw invalidCode();
    return found;
  }

  /**
   * Consumes a token, in a unit of work with the change that it allows: of any number of concurrent attempts,
   * exactly one succeeds.
   *
   * @returns the account, locked until the unit of work ends
   * @throws AppError `INVALID_CODE` if the token was used concurrently, or the account may no longer log in
   */
  async consume({ id, accountId }: AccountToken): Promise<Account> {
    const account = await this.accounts.lock(accountId);
    const { affected } = await this.tokens.delete({ id });
    if (affected !== 1 || !account?.isActive) throw invalidCode();
    return account;
  }

  /** Ends all tokens of an account, because its password or e-mail has changed. */
  async endAll(accountId: number): Promise<void> {
    await this.tokens.delete({ accountId });
  }
}

const invalidCode = (): AppError => new AppError('INVALID_CODE', ERRORS.INVALID_CODE.message);

/** 256 random bits need neither a salt nor a slow hash. */
const hash = (token: string): string => createHash('sha256').update(token).digest('base64url');
