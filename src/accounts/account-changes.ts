import { Injectable } from '@nestjs/common';
import { type Principal, RecentLogins, tokenNotValid } from '../platform/access/index.js';
import { Changes } from '../platform/changes/index.js';
import { Transactions } from '../platform/database/transactions.js';
import { type SecurityEvent, SecurityEvents } from '../platform/http/security-events.js';
import type { Notice } from './mail-texts.js';
import { type Account } from './account.entity.js';
import { accountDeleted, AccountsService } from './accounts.service.js';
import { AccountMails } from './account-mails.js';

/** A security event, and what happened in a few words. */
type SecurityTrace = readonly [SecurityEvent, reason?: string];

/** What a change records besides its rows. */
export interface Traces<T> {
  /** The mail that tells the owner of an account with a verified address, so that a thief is noticed. */
  readonly notice?: Notice | undefined;
  /** The path of what was changed; by default that of the request. */
  readonly subject?: string | ((result: T) => string);
  /** The acting account, if the request has no credential. */
  readonly actor?: number;
  /** The error if the account was deleted concurrently. */
  readonly deleted?: () => Error;
  /** Recorded after the commit. */
  readonly security?: SecurityTrace | undefined;
}

/** A change that gives the caller another way into the account. */
interface AccessTraces<T> extends Traces<T> {
  /** The error if the login of the caller has ended since the request was authenticated. */
  readonly sessionEnded?: () => Error;
}

/** The path of an account, for the audit log. */
export const accountPath = (id: number): string => `/auth/accounts/${id}`;

/** Changes what belongs to an account: in one transaction, with the account locked, its notice and its audit entry. */
@Injectable()
export class AccountChanges {
  constructor(
    private readonly accounts: AccountsService,
    private readonly mails: AccountMails,
    private readonly recent: RecentLogins,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly security: SecurityEvents,
  ) {}

  /**
   * @param work gets the account as it is now
   * @throws AppError `UNAUTHENTICATED`, or that of `deleted`, when the account was deleted concurrently
   */
  async run<T>(accountId: number, traces: Traces<T>, work: (account: Account) => Promise<T>): Promise<T> {
    const { notice, subject, actor, deleted = accountDeleted, security } = traces;
    return this.transactions.run(async () => {
      const account = await this.accounts.lock(accountId);
      if (!account) throw deleted();
      const changed = await work(account);
      await this.report(account, { notice, security });
      await this.changes.record({
        ...(subject !== undefined && { subject: typeof subject === 'string' ? subject : subject(changed) }),
        ...(actor !== undefined && { actor }),
      });
      return changed;
    });
  }

  /** Reports a part of a change in its unit of work: to the owner, and as a security event after the commit. */
  async report(
    account: Account,
    { notice, security }: Pick<Traces<never>, 'notice' | 'security'>,
  ): Promise<void> {
    if (notice !== undefined) await this.mails.notify(account, notice);
    if (security === undefined) return;
    const [event, reason] = security;
    this.transactions.onCommit(() =>
      this.security.record(event, { accountId: account.id, ...(reason !== undefined && { reason }) }),
    );
  }

  /**
   * Gives the caller another way into the account. Its login must still be valid: a reset of the password that has just
   * ended the login would not end that.
   */
  addAccess<T>(
    caller: Pick<Principal, 'sid'> & { readonly account: Pick<Account, 'id'> },
    { sessionEnded = tokenNotValid, ...traces }: AccessTraces<T>,
    work: (account: Account) => Promise<T>,
  ): Promise<T> {
    return this.run(caller.account.id, traces, async (account) => {
      if (!account.isActive) throw accountDeleted();
      if (!(await this.recent.isOpen(caller))) throw sessionEnded();
      return work(account);
    });
  }
}
