import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors/errors.js';
import type { ClientInfo } from '../../common/http/client.js';
import { MESSAGES } from '../../common/errors/messages.js';
import { checkInput } from '../../common/validation/input.pipe.js';
import { Transactions } from '../../database/transactions.js';
import { MailOutbox } from '../../mail/index.js';
import { AccountMails, AccountTokens, MailLimits } from '../account-mails/index.js';
import { type Account, AccountsService, Credentials, LoginInput } from '../accounts/index.js';

export const ALREADY_VERIFIED = 'The e-mail address is already verified';
export const MAIL_LIMIT = 'A mail was sent less than a minute ago, or 20 within a day; look for it, or wait';

/** Verifies the e-mail of accounts. */
@Injectable()
export class EmailVerification {
  constructor(
    private readonly accounts: AccountsService,
    private readonly credentials: Credentials,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
    private readonly limits: MailLimits,
    private readonly outbox: MailOutbox,
    private readonly transactions: Transactions,
  ) {}

  /** @throws AppError `INVALID_CODE` */
  async confirm(token: string): Promise<void> {
    const found = await this.tokens.find('verify-email', token);
    await this.transactions.run(async () => {
      const { id } = await this.tokens.consume(found);
      await this.accounts.markVerified(id);
    });
  }

  /**
   * Sends the verification mail again, for a logged-in account or one identified by e-mail and password.
   *
   * @throws AppError `CONFLICT` when the e-mail is already verified, `RATE_LIMITED` within a minute, and as
   * {@link Credentials.identify}
   */
  async resend(caller: Account | null, body: unknown, client: ClientInfo): Promise<void> {
    const account = caller ?? (await this.identify(body, client));
    if (account.isEmailVerified) throw new AppError('CONFLICT', ALREADY_VERIFIED);
    this.outbox.requireOpen();
    await this.transactions.run(async () => {
      const seconds = await this.limits.take('addresses', account.email);
      if (seconds > 0) {
        throw new AppError('RATE_LIMITED', MAIL_LIMIT, { headers: { 'retry-after': String(seconds) } });
      }
      await this.mails.verifyEmail(account);
    });
  }

  private async identify(body: unknown, client: ClientInfo): Promise<Account> {
    if (isEmpty(body)) throw new AppError('UNAUTHENTICATED', MESSAGES.UNAUTHENTICATED);
    const { email, password } = await checkInput(LoginInput, body);
    return this.credentials.identify(email, password, client);
  }
}

const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
