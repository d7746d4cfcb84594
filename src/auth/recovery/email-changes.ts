import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { isDuplicate } from '../../platform/database/failures.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import { MailOutbox } from '../../platform/mail/index.js';
import type { Principal } from '../../platform/access/index.js';
import { AccountMails, AccountTokens, MailLimits } from '../account-mails/index.js';
import { type Account, AccountsService, normalizeEmail } from '../accounts/index.js';
import { RecentLogins } from '../logins/index.js';
import type { ChangeEmailInput } from './recovery.input.js';

export const EMAIL_TAKEN = 'Another account now uses this e-mail address';

/** Changes the e-mail address of accounts, once the new address is confirmed. */
@Injectable()
export class EmailChanges {
  constructor(
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
    private readonly limits: MailLimits,
    private readonly outbox: MailOutbox,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
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
    this.outbox.requireOpen();
    await this.recent.authenticate(caller, input, client);
    const email = normalizeEmail(input.new_email)!;
    await this.transactions.run(async () => {
      const seconds = await this.limits.take('addresses', email, client.address);
      if (seconds === 0) await this.mails.changeEmail(account, email);
      if ((await this.limits.take('addresses', account.email)) === 0) {
        await this.mails.announceChange(account);
      }
      await this.changes.record();
    });
  }

  /** @throws AppError `INVALID_CODE`, `CONFLICT` when the address has been taken; the token stays usable then */
  async confirm(token: string): Promise<Account> {
    const found = await this.tokens.find('change-email', token);
    try {
      return await this.transactions.run(async () => {
        const before = await this.tokens.consume(found);
        await this.tokens.endAll(before.id);
        await this.mails.notify(before, 'email-changed');
        await this.changes.record({ actor: before.id });
        return this.accounts.setEmail(before, found.email);
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', EMAIL_TAKEN, { cause: error });
    }
  }
}
