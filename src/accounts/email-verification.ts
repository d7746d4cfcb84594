import { Injectable } from '@nestjs/common';
import { AccountData, RecentLogins } from '../platform/access/index.js';
import type { ClientInfo } from '../platform/http/request-context.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import { checkInput } from '../platform/http/validation/input.pipe.js';
import type { MailAttempt } from '../platform/mail/index.js';
import { AccountChanges } from './account-changes.js';
import type { Account } from './account.entity.js';
import { LoginInput, type VerifyEmailInput } from './account.input.js';
import { AccountMails } from './account-mails.js';
import { AccountsService } from './accounts.service.js';
import * as texts from './mail-texts.js';
import { invalidCode, MailTokens } from './mail-tokens.js';

export const ALREADY_VERIFIED = 'The e-mail address is already verified';
export const MAY_BE_ANOTHERS =
  'The account already has a passkey, a second factor, an API key or an identity, which may be of somebody else who registered your address. Send its password as well, or reset the password, which removes them';
export const MAIL_LIMIT =
  'A mail was sent less than a minute ago, 20 within a day, or your network has requested 10 of them, or 100 within an hour; look for it, or wait';

const PURPOSE = 'verify-email';

/** How long a link is valid, in milliseconds. */
const LIFETIME = 24 * 3600_000;

/** What the outbox stores until the mail is sent. */
interface MailData {
  readonly accountId: number;
  /** The recipient. */
  readonly email: string;
}

/** Verifies the e-mail addresses of accounts by a link in a mail. */
@Injectable()
export class EmailVerification {
  constructor(
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly tokens: MailTokens,
    private readonly mails: AccountMails,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
  ) {
    mails.register(PURPOSE, (mail: MailData, attempt) => this.compose(mail, attempt));
  }

  /**
   * Sends a link to the address of the account, unless the limit is reached.
   *
   * @param client the address of the client that causes it
   * @returns 0, or the seconds to wait
   */
  async send({ id, email }: Account, client: string): Promise<number> {
    const seconds = await this.mails.take('addresses', email, client);
    if (seconds === 0) await this.mails.replace(PURPOSE, { id }, { accountId: id, email });
    return seconds;
  }

  /** Sends the mail again, for a logged-in account or one identified by e-mail and password. */
  async resend(caller: Account | null, body: unknown, client: ClientInfo): Promise<void> {
    const account = caller ?? (await this.identify(body, client));
    if (account.isEmailVerified) throw new AppError('CONFLICT', ALREADY_VERIFIED);
    this.mails.requireOpen();
    await this.changes.run(account.id, {}, async () => {
      const seconds = await this.send(account, client.address);
      if (seconds > 0) {
        throw new AppError('RATE_LIMITED', MAIL_LIMIT, { headers: { 'retry-after': String(seconds) } });
      }
    });
  }

  /**
   * Whoever registered the address may not own it: unless the call has their login or their password, it ends all logins,
   * and if they have added a way to log in, the account is not verified.
   *
   * @param caller if they are logged in
   * @throws AppError `INVALID_CODE`; `FORBIDDEN` if the account has another way to log in, and the call is neither
   * authenticated as the account nor has its password: the token stays usable
   */
  async verify(
    caller: Account | null,
    { token, password }: VerifyEmailInput,
    client: ClientInfo,
  ): Promise<void> {
    const found = await this.tokens.get(PURPOSE, token);
    const id = found.accountId;
    let isOwner = caller?.id === id;
    if (!isOwner && password != null) {
      const account = await this.accounts.find(id);
      if (account) await this.recent.checkPasswordOf(account, password, client);
      isOwner = true;
    }
    await this.changes.run(id, { actor: id, deleted: invalidCode }, async (account) => {
      await this.tokens.use(found, account);
      if (!isOwner && (await this.data.hasOtherAccess(account)))
        throw new AppError('FORBIDDEN', MAY_BE_ANOTHERS, { isDenial: false });
      await this.accounts.markVerified(account, { byOwner: isOwner });
    });
  }

  private async compose({ accountId, email }: MailData, attempt: MailAttempt) {
    const owner = { purpose: PURPOSE, accountId, email };
    const isWanted = (account: Account) =>
      account.email === email && !account.isEmailVerified && attempt.isCurrent();
    const link = await this.tokens.issueLink(owner, LIFETIME, isWanted);
    return link === undefined ? undefined : { to: { address: email }, ...texts.verifyEmail(link) };
  }

  private async identify(body: unknown, client: ClientInfo): Promise<Account> {
    if (isEmpty(body)) throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);
    const { email, password } = await checkInput(LoginInput, body);
    return this.recent.identify(email, password, client);
  }
}

const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
