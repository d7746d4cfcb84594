import { Injectable } from '@nestjs/common';
import { AccountData, type Principal, RecentLogins } from '../platform/access/index.js';
import { isDuplicate } from '../platform/database/failures.js';
import type { ClientInfo } from '../platform/http/request-context.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import { checkInput } from '../platform/http/validation/input.pipe.js';
import { AccountChanges } from './account-changes.js';
import type { Account } from './account.entity.js';
import { LoginInput, type ChangeEmailInput, type VerifyEmailInput } from './account.input.js';
import { AccountMails } from './account-mails.js';
import { AccountsService } from './accounts.service.js';
import { normalizeEmail } from './email-address.js';
import { invalidCode, MailTokens } from './mail-tokens.js';

export const ALREADY_VERIFIED = 'The e-mail address is already verified';
export const MAY_BE_ANOTHERS =
  'The account already has a passkey, a second factor, an API key or an identity, which may be of somebody else who registered your address. Send its password as well, or reset the password, which removes them';
export const MAIL_LIMIT =
  'A mail was sent less than a minute ago, 20 within a day, or 100 from your network within an hour; look for it, or wait';
export const EMAIL_TAKEN = 'Another account now uses this e-mail address';

/** The e-mail addresses of accounts: their verification, and changes once the new address is confirmed. */
@Injectable()
export class EmailService {
  constructor(
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly tokens: MailTokens,
    private readonly mails: AccountMails,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
  ) {}

  /**
   * Whoever registered the address may not own it: if they have added a way to log in, the account is verified only with
   * their login or their password.
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

  /** Sends the verification mail again, for a logged-in account or one identified by e-mail and password. */
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

  /**
   * Sends a mail to the new address and one to the old, unless they got one just now. It does not check whether the new
   * address is taken, so that the response does not reveal accounts.
   */
  async requestChange(caller: Principal, input: ChangeEmailInput, client: ClientInfo): Promise<void> {
    const { account } = caller;
    this.mails.requireOpen();
    await this.recent.authenticate(caller, input, client);
    const email = normalizeEmail(input.new_email)!;
    await this.changes.run(account.id, {}, () => this.mails.changeEmail(account, email, client.address));
  }

  /** @throws AppError `INVALID_CODE`, `CONFLICT` when the address has been taken; the token stays usable then */
  async confirmChange(token: string): Promise<Account> {
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

  private async identify(body: unknown, client: ClientInfo): Promise<Account> {
    if (isEmpty(body)) throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);
    const { email, password } = await checkInput(LoginInput, body);
    return this.recent.identify(email, password, client);
  }
}

const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
