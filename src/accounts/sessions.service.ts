import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Not, Raw, Repository } from 'typeorm';
import { Clock } from '../platform/jobs/clock.js';
import { Purger } from '../platform/jobs/purger.js';
import type { ClientInfo } from '../platform/http/request-context.js';
import { Config } from '../platform/config/config.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { Changes } from '../platform/changes/index.js';
import {
  CredentialWatch,
  exportOf,
  OwnedByAccount,
  type OwnedData,
  RecentLogins,
  type Rights,
  type SessionInfo,
  type SessionKind,
} from '../platform/access/index.js';
import { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
import { type Account } from './account.entity.js';
import { Session } from './session.entity.js';
import { toExportedSession } from './session.view.js';
import { badCredentials } from './login.errors.js';

/** An account that has passed every step of a login. No session begins without one, so no way to log in skips a step. */
export class Authenticated {
  constructor(readonly account: Account) {}
}

/** The newest sessions that a list contains. */
const LIST_LIMIT = 1000;

const DAY = 24 * 3600 * 1000;

/** Logins that have neither expired nor reached their maximum age: the one condition, wherever a session counts. */
const VALID = 'expires_at > :now AND created_at > :oldest';

/**
 * Ends a statement about valid sessions of active accounts.
 *
 * @param columns of the sessions, under names that accounts do not have
 * @param condition chooses sessions
 */
const ofValid = (columns: string, condition: string): string =>
  `FROM accounts JOIN (
     SELECT account_id, ${columns} FROM sessions
     WHERE ${condition} AND ${VALID}
   ) AS session ON session.account_id = accounts.id WHERE is_active`;

/** A new session: by cookie it has a secret, by token a refresh token. */
interface NewSession {
  readonly id: string;
  readonly kind: SessionKind;
  readonly refreshJti?: string;
  readonly secretHash?: string;
  readonly expiresAt: Date;
}

/** What identifies a session: the claims of an access token, or the content of a cookie. */
type Presented =
  { readonly id: string; readonly accountId: number } | { readonly id: string; readonly secretHash: string };

/** A valid session with its account. */
export interface OpenSession {
  readonly account: Account;
  readonly session: SessionInfo;
  readonly lastUsedAt: Date;
}

/** A use of a session, and until when it extends the session. */
type SessionUse = Pick<Session, 'lastUsedAt' | 'expiresAt'>;

/** The sessions of accounts, by cookie or by token. */
@Injectable()
@OwnedByAccount()
export class SessionsService implements OwnedData {
  readonly tables = ['sessions'];
  readonly exports = { logins: exportOf((id) => this.list(id), toExportedSession) };
  readonly counts = { logins: ({ id }: Pick<Account, 'id'>) => this.count(id) };

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly clock: Clock,
    private readonly config: Config,
    recent: RecentLogins,
    watch: CredentialWatch,
    purger: Purger,
  ) {
    recent.register({ confirm: (sid) => this.confirm(sid), isOpen: (sid) => this.isOpen(sid) });
    watch.register({ idOf: ({ sid }) => sid, rightsOf: (ids) => this.rightsOf(ids) });
    purger.register('sessions');
  }

  /**
   * Opens a session.
   *
   * @throws AppError `UNAUTHENTICATED` if the account, its password or its second factor was changed concurrently
   */
  async open({ account }: Authenticated, session: NewSession, { address, agent }: ClientInfo): Promise<void> {
    const parameters = {
      id: session.id,
      kind: session.kind,
      refreshJti: session.refreshJti ?? null,
      secretHash: session.secretHash ?? null,
      address,
      agent,
      now: this.clock.now().toISOString(),
      expiresAt: session.expiresAt.toISOString(),
      account: account.id,
      passwordChangedAt: account.passwordChangedAt.toISOString(),
      // A boolean for both databases.
      hasSecondFactor: account.hasSecondFactor ? 1 : 0,
    };
    await this.transactions.run(async () => {
      // It also locks the account, which must not change in between.
      await this.transactions.execute('UPDATE accounts SET last_login_at = :now WHERE id = :account', {
        now: parameters.now,
        account: account.id,
      });
      // SQL, because TypeORM has no `INSERT … SELECT`.
      const opened = await this.transactions.execute(
        `INSERT INTO sessions (id, account_id, kind, refresh_jti, secret_hash, address, agent,
           created_at, last_used_at, expires_at)
         SELECT :id, id, :kind, :refreshJti, :secretHash, :address, :agent, :now, :now, :expiresAt FROM accounts
         WHERE id = :account AND is_active AND password_changed_at = :passwordChangedAt
           AND has_second_factor = :hasSecondFactor
         RETURNING id`,
        parameters,
      );
      if (opened.length === 0) throw badCredentials();
      await this.changes.record({ actor: account.id });
    });
  }

  /**
   * Finds the account of a credential, in one statement.
   *
   * @returns `undefined` when the session is unknown or has ended, or the account is inactive
   */
  async find(presented: Presented): Promise<OpenSession | undefined> {
    const [owner, kind] =
      'accountId' in presented
        ? (['account_id = :accountId', 'token'] as const)
        : (['secret_hash = :secretHash', 'cookie'] as const);
    const row = await this.queries.one<AccountRow & { lastUsedAt: string; authenticatedAt: string }>(
      `SELECT ${ACCOUNT}, "lastUsedAt", "authenticatedAt" ${ofValid(
        'last_used_at AS "lastUsedAt", coalesce(authenticated_at, created_at) AS "authenticatedAt"',
        `id = :id AND ${owner} AND kind = '${kind}'`,
      )}`,
      { ...presented, ...this.limits() },
    );
    if (!row) return undefined;
    const { lastUsedAt, authenticatedAt, ...account } = row;
    const session = { sid: presented.id, kind, authenticatedAt: new Date(authenticatedAt) };
    return { account: toAccount(account), session, lastUsedAt: new Date(lastUsedAt) };
  }

  /** The accounts of the sessions that are valid, by the ids of the sessions. */
  async rightsOf(ids: readonly unknown[]): Promise<ReadonlyMap<unknown, Rights>> {
    const rows = await this.queries.all<{ sessionId: string } & Rights>(
      `SELECT "sessionId", account_id AS "accountId", is_staff AS "isStaff" ${ofValid(
        'id AS "sessionId"',
        `id IN (SELECT value ->> 'id' FROM ${this.queries.dialect.elementsOf(':ids')} AS element)`,
      )}`,
      { ids: JSON.stringify(ids.map((id) => ({ id }))), ...this.limits() },
    );
    return new Map(rows.map((row) => [row.sessionId, row]));
  }

  /** Records that the password or the second factor of a session was checked again. */
  async confirm(id: string): Promise<void> {
    await this.sessions.update({ id }, { authenticatedAt: this.clock.now() });
  }

  /** Ends the sessions of an account. Call `AccountData.endSessions`, which also ends what can become one. */
  async onSessionsEnd({ id: accountId }: Pick<Account, 'id'>, except = ''): Promise<void> {
    await this.sessions.delete({ accountId, id: Not(except) });
  }

  /** The valid sessions of an account, newest first. */
  list(accountId: number): Promise<Session[]> {
    return this.sessions.find({
      where: { accountId, ...this.valid() },
      order: { createdAt: 'DESC', id: 'DESC' },
      take: LIST_LIMIT,
    });
  }

  /** The number of valid sessions of an account. */
  count(accountId: number): Promise<number> {
    return this.sessions.countBy({ accountId, ...this.valid() });
  }

  /** The account of a valid session. */
  async ownerOf(id: string): Promise<number | undefined> {
    const session = await this.sessions.findOneBy({ id, ...this.valid() });
    return session?.accountId;
  }

  isOpen(id: string): Promise<boolean> {
    return this.sessions.existsBy({ id, ...this.valid() });
  }

  /**
   * Ends one session of an account, even if its refresh token has just been exchanged: a concurrent refresh must not keep it
   * valid.
   *
   * @returns whether it was valid
   */
  end(accountId: number, id: string): Promise<boolean> {
    return this.transactions.run(async () => {
      const { affected } = await this.sessions.delete({ id, accountId, ...this.valid() });
      if (affected === 1) await this.changes.record({ actor: accountId });
      return affected === 1;
    });
  }

  /** Ends the session of a cookie, if its secret is right. */
  async endCookie(id: string, secretHash: string): Promise<void> {
    await this.sessions.delete({ id, secretHash });
  }

  /** Records a use of a session, unless a later one is recorded, and extends the session. */
  async touch(id: string, use: SessionUse, { address, agent }: ClientInfo): Promise<void> {
    const isEarlier = { id, lastUsedAt: LessThan(use.lastUsedAt) };
    await this.sessions.update(isEarlier, { ...use, address, agent });
  }

  /** {@link VALID} as a condition of TypeORM. */
  valid() {
    return { expiresAt: Raw(() => VALID, this.limits()) };
  }

  /** The parameters of {@link VALID}. */
  private limits() {
    const now = this.clock.now();
    const oldest = new Date(now.getTime() - this.config.loginMaxDays * DAY);
    return { now: now.toISOString(), oldest: oldest.toISOString() };
  }
}
