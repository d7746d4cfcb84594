import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors/errors.js';
import type { ClientInfo } from '../../common/http/client.js';
import { isDuplicate } from '../../database/failures.js';
import { Transactions } from '../../database/transactions.js';
import { MailOutbox } from '../../mail/index.js';
import { AccountMails, AccountTokens } from '../account-mails/index.js';
import { type Account, AccountsService, Credentials, normalizeEmail } from '../accounts/index.js';
import type { ChangeEmailInput } from './recovery.input.js';

export const EMAIL_TAKEN = 'Another account now uses this e-mail address';

/** Changes the e-mail address of accounts, once the new address is confirmed. */
@Injectable()
export class EmailChanges {
  constructor(
    private readonly accounts: AccountsService,
    private readonly credentials: Credentials,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
    private readonly outbox: MailOutbox,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Sends a mail to the new address and one to the old. It does not check whether the new address is taken, so that
   * the response does not reveal accounts.
   *
   * @throws IncorrectPassword
   * @throws AppError `RATE_LIMITED` after too many wrong passwords
   */
  async request(account: Account, input: ChangeEmailInput, client: ClientInfo): Promise<void> {
    this.outbox.requireOpen();
    await this.credentials.confirm(account, input.password, client);
    const email = normalizeEmail(input.new_email)!;
    await this.transactions.run(() => this.mails.changeEmail(account, email));
  }

  /** @throws AppError `INVALID_CODE`, `CONFLICT` when the address has been taken; the token stays usable then */
  async confirm(token: string): Promise<Account> {
    const found = await this.tokens.find('change-email', token);
    try {
      return await this.transactions.run(async () => {
        const { id } = await this.tokens.consume(found);
        await this.tokens.endAll(id);
        return this.accounts.setEmail(id, found.email);
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', EMAIL_TAKEN, { cause: error });
    }
  }
}
