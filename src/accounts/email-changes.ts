import { Injectable } from '@nestjs/common';
import { type Principal, RecentLogins } from '../platform/access/index.js';
import { isDuplicate } from '../platform/database/failures.js';
import type { ClientInfo } from '../platform/http/client.js';
import { AppError } from '../platform/http/errors/errors.js';
import { AccountChanges } from './account-changes.js';
import { AccountMails } from './account-mails.js';
import { invalidCode, MailTokens } from './mail-tokens.js';
import { type Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { normalizeEmail } from './email-address.js';
import type { ChangeEmailInput } from './email.input.js';

export const EMAIL_TAKEN = 'Another account now uses this e-mail address';

/** Changes the e-mail address of accounts, once the new address is confirmed. */
@Injectable()
export class EmailChanges {
  constructor(
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly tokens: MailTokens,
    private readonly mails: AccountMails,
    private readonly changes: AccountChanges,
  ) {}

  /**
   * Sends a mail to the new address and one to the old, unless they got one just now. It does not check whether the new
   * address is taken, so that the response does not reveal accounts.
   *
   * @throws IncorrectPassword
   * @throws AppError as {@link RecentLogins.authenticate}
   */
  async request(caller: Principal, input: ChangeEmailInput, client: ClientInfo): Promise<void> {
    const { account } = caller;
    this.mails.requireOpen();
    await this.recent.authenticate(caller, input, client);
    const email = normalizeEmail(input.new_email)!;
    await this.changes.run(account.id, {}, () => this.mails.changeEmail(account, email, client.address));
  }

  /** @throws AppError `INVALID_CODE`, `CONFLICT` when the address has been taken; the token stays usable then */
  async confirm(token: string): Promise<Account> {
    const found = await this.tokens.find('change-email', token);
    const id = found.accountId;
    const traces = { notice: 'email-changed', actor: id, deleted: invalidCode } as const;
    try {
      return await this.changes.run(id, traces, async (account) => {
        await this.tokens.use(found, account);
        return this.accounts.setEmail(account, found.email);
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', EMAIL_TAKEN, { cause: error });
    }
  }
}
