import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock/clock.js';
import type { ClientInfo } from '../../common/http/client.js';
import { Queries } from '../../database/queries.js';
import { Transactions } from '../../database/transactions.js';
import type { LoginKind } from '../access/index.js';
import type { Account } from '../accounts/index.js';
import type { LoginRow } from './login.view.js';

/** More than anyone looks through; the newest ones. */
const LIST_LIMIT = 1000;

/** A login that begins: by cookie it has a secret, by token a refresh token. */
interface NewLogin {
  readonly id: string;
  readonly kind: LoginKind;
  readonly refreshJti?: string;
  readonly secretHash?: string;
  readonly expiresAt: Date;
}

/** What a refresh token says of its login. */
interface PresentedToken {
  readonly sid: string;
  readonly user_id: number;
  readonly jti: string;
}

/** The refresh token that takes its place. */
interface NextToken {
  readonly jti: string;
  readonly expiresAt: Date;
}

/** The logins of accounts, by cookie or by token, and which refresh token is the good one of the latter. */
@Injectable()
export class Logins {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * Opens a login for an account that has just shown who it is.
   *
   * @returns whether it came about: not when the account or its password has changed meanwhile
   */
  async open(account: Account, login: NewLogin, { address, agent }: ClientInfo): Promise<boolean> {
    const opened = await this.transactions.execute(
      `INSERT INTO logins (id, account_id, kind, refresh_jti, secret_hash, address, agent,
         created_at, last_used_at, expires_at)
       SELECT :id, id, :kind, :refreshJti, :secretHash, :address, :agent, :now, :now, :expiresAt FROM accounts
       WHERE id = :account AND is_active AND password_changed_at = :passwordChangedAt
       ${this.queries.dialect.lockRows} RETURNING id`,
      {
        id: login.id,
        kind: login.kind,
        refreshJti: login.refreshJti ?? null,
        secretHash: login.secretHash ?? null,
        address,
        agent,
        now: this.clock.now().toISOString(),
        expiresAt: login.expiresAt.toISOString(),
        account: account.id,
        passwordChangedAt: account.passwordChangedAt.toISOString(),
      },
    );
    return opened.length > 0;
  }

  /**
   * Puts the next refresh token in the place of the presented one: in one statement, so that of any number
   * of attempts at once exactly one succeeds.
   */
  async rotate({ sid, user_id, jti }: PresentedToken, next: NextToken, client: ClientInfo): Promise<boolean> {
    const rotated = await this.transactions.execute(
      `UPDATE logins SET refresh_jti = :jti, previous_jti = refresh_jti,
         address = :address, agent = :agent, last_used_at = :now, expires_at = :expiresAt
       WHERE id = :sid AND account_id = :account AND refresh_jti = :presented AND expires_at > :now
         AND EXISTS (SELECT 1 FROM accounts WHERE accounts.id = logins.account_id AND is_active)
       RETURNING id`,
      { sid, account: user_id, presented: jti, ...this.use(next, client) },
    );
    return rotated.length > 0;
  }

  /** Whether a refresh token has neither been used nor ended. */
  async isCurrent({ sid, user_id, jti }: PresentedToken): Promise<boolean> {
    const login = await this.queries.one(
      `SELECT id FROM logins
       WHERE id = :sid AND account_id = :account AND refresh_jti = :jti AND expires_at > :now`,
      { sid, account: user_id, jti, now: this.clock.now().toISOString() },
    );
    return login !== undefined;
  }

  /** Ends the login that a refresh token belongs to. @returns whether the token was still good */
  async end({ sid, user_id, jti }: PresentedToken): Promise<boolean> {
    const ended = await this.transactions.execute(
      `DELETE FROM logins
       WHERE id = :sid AND account_id = :account AND refresh_jti = :jti AND expires_at > :now RETURNING id`,
      { sid, account: user_id, jti, now: this.clock.now().toISOString() },
    );
    return ended.length > 0;
  }

  /** Ends the login of a refresh token that was used again, which only a thief or its victim does. */
  async revoke({ sid, user_id, jti }: PresentedToken): Promise<void> {
    await this.transactions.execute(
      'DELETE FROM logins WHERE id = :sid AND account_id = :account AND refresh_jti <> :jti',
      { sid, account: user_id, jti },
    );
  }

  /** Ends all logins of an account. @param except id of the one that stays */
  async endAll(accountId: number, except = ''): Promise<void> {
    await this.transactions.execute('DELETE FROM logins WHERE account_id = :account AND id <> :except', {
      account: accountId,
      except,
    });
  }

  /** The logins of an account that are good now, newest first. */
  list(accountId: number): Promise<LoginRow[]> {
    return this.queries.all<LoginRow>(
      `SELECT id, kind, created_at, last_used_at, address, agent FROM logins
       WHERE account_id = :account AND expires_at > :now ORDER BY created_at DESC, id DESC LIMIT ${LIST_LIMIT}`,
      { account: accountId, now: this.clock.now().toISOString() },
    );
  }

  /** Ends one login of an account. @returns whether there was such a one, still good */
  async endOne(accountId: number, id: string): Promise<boolean> {
    const ended = await this.transactions.execute(
      'DELETE FROM logins WHERE id = :id AND account_id = :account AND expires_at > :now RETURNING id',
      { id, account: accountId, now: this.clock.now().toISOString() },
    );
    return ended.length > 0;
  }

  private use({ jti, expiresAt }: NextToken, { address, agent }: ClientInfo) {
    return { jti, address, agent, now: this.clock.now().toISOString(), expiresAt: expiresAt.toISOString() };
  }
}
