import { Injectable } from '@nestjs/common';
import { AccountData, RecentLogins } from '../platform/access/index.js';
import type { ClientInfo } from '../platform/http/client.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import { checkInput } from '../platform/http/validation/input.pipe.js';
import { AccountChanges } from './account-changes.js';
import { AccountMails } from './account-mails.js';
import { invalidCode, MailTokens } from './mail-tokens.js';
import { type Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { LoginInput } from './account.input.js';
import type { VerifyEmailInput } from './email.input.js';

export const ALREADY_VERIFIED = 'The e-mail address is already verified';
export const MAY_BE_ANOTHERS =
  'The account already has a passkey, a second factor, an API key or an identity, which may be of somebody else who registered your address. Send its password as well, or reset the password, which removes them';
export const MAIL_LIMIT =
  'A mail was sent less than a minute ago, 20 within a day, or 100 from your network within an hour; look for it, or wait';

/** Verifies the e-mail of accounts. */
@Injectable()
export class EmailVerification {
  constructor(
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly tokens: MailTokens,
    private readonly mails: AccountMails,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
  ) {}

  /**
   * Whoever registered the address may not own it: with a way to log in of theirs, the account is not verified unless they
   * take part.
   *
   * @param caller if they are logged in
   * @throws IncorrectPassword
   * @throws AppError `INVALID_CODE`; `FORBIDDEN` if the account has another way to log in, and the call is neither
   * authenticated as the account nor has its password: the token stays usable
   */
  async confirm(
    caller: Account | null,
    { token, password }: VerifyEmailInput,
    client: ClientInfo,
  ): Promise<void> {
    const found = await this.tokens.find('verify-email', token);
    const id = found.accountId;
    let isOwner = caller?.id === id;
    if (!isOwner && password != null) {
      const account = await this.accounts.findOne(id);
      if (account) await this.recent.checkPasswordOf(account, password, client);
      isOwner = true;
    }
    await this.changes.run(id, { actor: id, deleted: invalidCode }, async (account) => {
      await this.tokens.use(found, account);
      if (!isOwner && (await this.data.hasOtherAccess(account)))
        throw new AppError('FORBIDDEN', MAY_BE_ANOTHERS, { isDenial: false });
      await this.accounts.markVerified(account);
    });
  }

  /**
   * Sends the verification mail again, for a logged-in account or one identified by e-mail and password.
   *
   * @throws AppError `CONFLICT` when the e-mail is already verified, `RATE_LIMITED` within a minute, and as
   * {@link RecentLogins.identify}
   */
  async resend(caller: Account | null, body: unknown, client: ClientInfo): Promise<void> {
    const account = caller ?? (await this.identify(body, client));
    if (account.isEmailVerified) throw new AppError('CONFLICT', ALREADY_VERIFIED);
    this.mails.requireOpen();
    await this.changes.run(account.id, {}, async () => {
      const seconds = await this.mails.verifyEmail(account, client.address);
      if (seconds > 0) {
        throw new AppError('RATE_LIMITED', MAIL_LIMIT, { headers: { 'retry-after': String(seconds) } });
      }
    });
  }

  private async identify(body: unknown, client: ClientInfo): Promise<Account> {
    if (isEmpty(body)) throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);
    const { email, password } = await checkInput(LoginInput, body);
    return this.recent.identify(email, password, client);
  }
}

const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
