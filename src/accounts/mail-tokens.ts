import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import { Transactions } from '../platform/database/transactions.js';
import { Clock } from '../platform/jobs/clock.js';
import { type Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { OneTimeSecrets } from './one-time-secrets.js';

/** Whose token it is, and what it allows. */
interface TokenOwner {
  /** What the token allows. The page behind the link gets it as its `action`. */
  readonly purpose: string;
  readonly accountId: number;
  /** The recipient's address. */
  readonly email: string;
}

/** A valid token. */
interface MailToken extends TokenOwner {
  readonly text: string;
}

/** The tokens of links in mails. Whoever has one can read the mails of its address. */
@Injectable()
export class MailTokens {
  constructor(
    private readonly secrets: OneTimeSecrets,
    private readonly accounts: AccountsService,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /**
   * Creates a token, which replaces the one of the same purpose.
   *
   * @param lifetime in milliseconds
   * @param isWanted whether the account, in its current state, may still get the token; called in the transaction of the
   * token
   * @returns its link; `undefined` if the account may not
   */
  async issueLink(
    owner: TokenOwner,
    lifetime: number,
    isWanted: (account: Account) => boolean | Promise<boolean>,
  ): Promise<string | undefined> {
    const { purpose, accountId } = owner;
    const token = await this.transactions.run(async () => {
      const account = await this.accounts.lock(accountId);
      if (!account?.isActive || !(await isWanted(account))) return undefined;
      await this.secrets.end(accountId, purpose);
      return this.secrets.issue(owner, lifetime);
    });
    const { accountLinksUrl, publicUrl } = this.config;
    // The token is in the fragment, which browsers send neither to a server nor in `Referer`.
    return token && `${accountLinksUrl ?? `${publicUrl}/account/`}#action=${purpose}&token=${token}`;
  }

  /** Reads a token, which stays usable. */
  async get(purpose: string, text: string): Promise<MailToken> {
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
}

export const invalidCode = (): AppError => new AppError('INVALID_CODE', ERRORS.INVALID_CODE.message);
