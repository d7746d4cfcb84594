import { Injectable } from '@nestjs/common';
import { AppError, ERRORS } from '../../platform/http/errors/errors.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { checkInput } from '../../platform/http/validation/input.pipe.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import { MailOutbox } from '../../platform/mail/index.js';
import { AccountMails, AccountTokens, MailLimits } from '../account-mails/index.js';
import { type Account, AccountsService, Credentials, LoginInput } from '../accounts/index.js';
import { ApiKeys } from '../api-keys/index.js';
import { Passkeys } from '../passkeys/index.js';
import { SocialIdentities } from '../social/index.js';
import type { VerifyEmailInput } from './recovery.input.js';

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
    private readonly credentials: Credentials,
    private readonly passkeys: Passkeys,
    private readonly identities: SocialIdentities,
    private readonly apiKeys: ApiKeys,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
    private readonly limits: MailLimits,
    private readonly outbox: MailOutbox,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
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
    let isOwner = caller?.id === found.accountId;
    if (!isOwner && password != null) {
      const account = await this.accounts.findOne(found.accountId);
      if (account) await this.credentials.confirm(account, password, client);
      isOwner = true;
    }
    await this.transactions.run(async () => {
      const account = await this.tokens.consume(found);
      if (!isOwner && (await this.hasOtherWays(account)))
        throw new AppError('FORBIDDEN', MAY_BE_ANOTHERS, { isDenial: false });
      await this.accounts.markVerified(account);
      await this.changes.record({ actor: account.id });
    });
  }

  private async hasOtherWays({ id, hasSecondFactor }: Account): Promise<boolean> {
    if (hasSecondFactor) return true;
    for (const kind of [this.passkeys, this.identities, this.apiKeys])
      if ((await kind.count(id)) > 0) return true;
    return false;
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
      const seconds = await this.limits.take('addresses', account.email, client.address);
      if (seconds > 0) {
        throw new AppError('RATE_LIMITED', MAIL_LIMIT, { headers: { 'retry-after': String(seconds) } });
      }
      await this.mails.verifyEmail(account);
      await this.changes.record();
    });
  }

  private async identify(body: unknown, client: ClientInfo): Promise<Account> {
    if (isEmpty(body)) throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);
    const { email, password } = await checkInput(LoginInput, body);
    return this.credentials.identify(email, password, client);
  }
}

const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
