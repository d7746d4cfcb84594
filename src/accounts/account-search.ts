import { Injectable } from '@nestjs/common';
import { AccountData } from '../platform/access/index.js';
import { caseFold } from '../platform/database/case-fold.js';
import { Queries } from '../platform/database/queries.js';
import type { StatementParameters } from '../platform/database/statement.js';
import { AppError } from '../platform/http/errors/errors.js';
import type { Page } from '../platform/http/pages/page.js';
import { PageRequest } from '../platform/http/pages/page-request.js';
import { QueryField } from '../platform/http/validation/fields.js';
import { isSearchable } from '../platform/http/validation/text.js';
import type { Account } from './account.entity.js';
import { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
import { AccountsService } from './accounts.service.js';
import { emailKey } from './email-address.js';

export const NO_SUCH_ACCOUNT = 'Account not found';

const FLAGS = new Map([
  ['true', true],
  ['false', false],
]);

const FlagField = (description: string): PropertyDecorator =>
  QueryField({ type: 'string', enum: [...FLAGS.keys()], description }, (text) => FLAGS.get(text));

/** What accounts must have in common; an absent or empty criterion has no effect. */
interface AccountFilter {
  /** A part of the e-mail or the name, in any letter case. */
  readonly q?: string;
  readonly is_active?: boolean | undefined;
  readonly is_staff?: boolean | undefined;
}

interface AccountRange {
  readonly limit: number;
  readonly offset: number;
  readonly direction: 'ASC' | 'DESC';
}

/** The query of the list of accounts: a flag with any other value counts as absent. */
export class ListAccountsQuery extends PageRequest implements AccountFilter {
  @QueryField({
    type: 'string',
    description:
      'A part of the e-mail or the name, in any letter case. More than 1,000 characters match nothing.',
  })
  readonly q?: string;

  @FlagField('Whether they may log in; any other value counts as absent.')
  readonly is_active?: boolean | undefined;

  @FlagField('Whether they are staff; any other value counts as absent.')
  readonly is_staff?: boolean | undefined;
}

/** Accounts as staff and operators find them. The list and its total may read all accounts, so they do not delay other requests. */
@Injectable()
export class AccountSearch {
  constructor(
    private readonly accounts: AccountsService,
    private readonly queries: Queries,
    private readonly data: AccountData,
  ) {}

  /** The newest first, and their number. */
  async list(query: ListAccountsQuery): Promise<Page<Account>> {
    const { limit, offset } = query;
    const { accounts, total } = await this.search(query, { limit, offset, direction: 'DESC' });
    return query.of(accounts, total);
  }

  /** @returns those of the range, and the number of all that match */
  async search(
    filter: AccountFilter,
    { limit, offset, direction }: AccountRange,
  ): Promise<{ accounts: Account[]; total: number }> {
    if (filter.q && !isSearchable(filter.q)) return { accounts: [], total: 0 };
    const [where, parameters] = this.matching(filter);
    const [counted] = await this.queries.search<{ total: number }>(
      `SELECT count(*) AS total FROM accounts WHERE ${where}`,
      parameters,
    );
    const { total } = counted!;
    if (offset >= total) return { accounts: [], total };
    const rows = await this.queries.search<AccountRow>(
      `SELECT ${ACCOUNT} FROM accounts WHERE ${where} ORDER BY id ${direction} LIMIT :limit OFFSET :offset`,
      { ...parameters, limit, offset },
    );
    return { accounts: rows.map(toAccount), total };
  }

  /** @throws AppError `NOT_FOUND` */
  async get(id: number): Promise<Account> {
    const account = await this.accounts.find(id);
    if (!account) throw noSuchAccount();
    return account;
  }

  /** The numbers of its valid logins and its passkeys. */
  async countsOf(account: Account): Promise<{ logins: number; passkeys: number }> {
    const [logins, passkeys] = await Promise.all([
      this.data.count('logins', account),
      this.data.count('passkeys', account),
    ]);
    return { logins, passkeys };
  }

  private matching({
    q,
    is_active,
    is_staff,
  }: AccountFilter): [where: string, parameters: StatementParameters] {
    const conditions = [this.queries.dialect.withinDeadline];
    const parameters: Record<string, string | number> = {};
    // Booleans for both databases.
    if (is_active !== undefined) {
      conditions.push('is_active = :isActive');
      parameters['isActive'] = is_active ? 1 : 0;
    }
    if (is_staff !== undefined) {
      conditions.push('is_staff = :isStaff');
      parameters['isStaff'] = is_staff ? 1 : 0;
    }
    if (q) {
      // Without `LIKE`, whose letter case and limits differ.
      conditions.push(
        `(replace(email_key, :email, '') <> email_key OR replace(name_folded, :name, '') <> name_folded)`,
      );
      Object.assign(parameters, { email: emailKey(q), name: caseFold(q) });
    }
    return [conditions.join(' AND '), parameters];
  }
}

export const noSuchAccount = (): AppError => new AppError('NOT_FOUND', NO_SUCH_ACCOUNT);
