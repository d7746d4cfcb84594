import { Injectable } from '@nestjs/common';
import { AccountData, type Principal, RecentLogins } from '../platform/access/index.js';
import { stringify } from '../platform/http/json-text.js';
import { type Account } from './account.entity.js';
import { toAccountView } from './account.view.js';

/** Exports everything that is stored about an account, for its owner (GDPR, article 20). */
@Injectable()
export class AccountExport {
  constructor(
    private readonly data: AccountData,
    private readonly recent: RecentLogins,
  ) {}

  /**
   * The parts of a JSON object, read in batches while the client reads them.
   *
   * @throws AppError `FORBIDDEN` without a recent login
   */
  export(caller: Principal): AsyncIterable<string> {
    this.recent.requireToRead(caller);
    return this.write(caller.account);
  }

  private async *write(account: Account): AsyncGenerator<string> {
    yield `{"account":${JSON.stringify(toAccountView(account))}`;
    for (const [name, batches] of this.data.lists(account)) {
      let separator = `,${JSON.stringify(name)}:[`;
      for await (const batch of batches) {
        for (const item of batch) {
          yield separator + stringify(item);
          separator = ',';
        }
      }
      yield separator === ',' ? ']' : `${separator}]`;
    }
    yield '}';
  }
}
