import { Injectable } from '@nestjs/common';
import { type Principal, RecentLogins } from '../platform/access/index.js';
import { isDuplicate } from '../platform/database/failures.js';
import type { ClientInfo } from '../platform/http/request-context.js';
import { AppError } from '../platform/http/errors/errors.js';
import type { MailAttempt } from '../platform/mail/index.js';
import { AccountChanges } from './account-changes.js';
import type { Account } from './account.entity.js';
import type { ChangeEmailInput } from './account.input.js';
import { AccountMails } from './account-mails.js';
import { AccountsService } from './accounts.service.js';
import { normalizeEmail } from './email-address.js';
import * as texts from './mail-texts.js';
import { invalidCode, MailTokens } from './mail-tokens.js';

export const EMAIL_TAKEN = 'Another account now uses this e-mail address';

const PURPOSE = 'change-email';
const NOTICE = 'change-email-notice';

/** How long a link is valid, in milliseconds. */
const LIFETIME = 24 * 3600_000;

/** What the outbox stores until the mail is sent. */
interface MailData {
  readonly accountId: number;
  /** The recipient. */
  readonly email: string;
  /** E-mail and password as they were at the request; if one changes before the mail is sent, the request is void. */
  readonly accountEmail: string;
  readonly passwordChangedAt: string;
}

/** Changes the e-mail addresses of accounts, once a link in a mail confirms the new one. */
@Injectable()
export class EmailChanges {
  constructor(
    private readonly accounts: AccountsService,
    private readonly recent: RecentLogins,
    private readonly tokens: MailTokens,
    private readonly mails: AccountMails,
    private readonly changes: AccountChanges,
  ) {
    mails.register(PURPOSE, (mail: MailData, attempt) => this.compose(mail, attempt));
    mails.register(NOTICE, async ({ email }: Pick<MailData, 'email'>) => ({
      to: { address: email },
      ...texts.emailChangeRequested(),
    }));
  }

  /**
   * Sends a link to the new address and a notice to the old one, unless they got a mail just now: the address of an earlier
   * request may have been a mistake. It does not check whether the new address is taken, so that the response does not
   * reveal accounts.
   */
  async request(caller: Principal, input: ChangeEmailInput, client: ClientInfo): Promise<void> {
    this.mails.requireOpen();
    await this.recent.authenticate(caller, input, client);
    const { account } = caller;
    const { id: accountId, email: accountEmail } = account;
    const passwordChangedAt = account.passwordChangedAt.toISOString();
    const email = normalizeEmail(input.new_email)!;
    const data: MailData = { accountId, email, accountEmail, passwordChangedAt };
    await this.changes.run(accountId, {}, async () => {
      if ((await this.mails.take('addresses', email, client.address)) > 0) return;
      await this.mails.replace(PURPOSE, account, data);
      // The address may be another person's, whose mails a stranger must not use up.
      const stranger = account.isOwnerConfirmed ? undefined : client.address;
      if ((await this.mails.take('addresses', accountEmail, stranger)) === 0)
        await this.mails.add(NOTICE, account, { email: accountEmail });
    });
  }

  /**
   * @param caller if they are logged in
   * @throws AppError `INVALID_CODE`, `CONFLICT` when the address has been taken; the token stays usable then
   */
  async confirm(caller: Account | null, token: string): Promise<Account> {
    const found = await this.tokens.get(PURPOSE, token);
    const id = found.accountId;
    const byOwner = caller?.id === id;
    const traces = { notice: 'email-changed', actor: id, deleted: invalidCode } as const;
    try {
      return await this.changes.run(id, traces, async (account) => {
        await this.tokens.use(found, account);
        return this.accounts.setEmail(account, found.email, { byOwner });
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new AppError('CONFLICT', EMAIL_TAKEN, { cause: error });
    }
  }

  private async compose(data: MailData, attempt: MailAttempt) {
    const { accountId, email, accountEmail, passwordChangedAt } = data;
    const owner = await this.accounts.findByEmail(email);
    if (owner && owner.id !== accountId) return { to: { address: owner.email }, ...texts.emailTaken() };
    const link = await this.tokens.issueLink(
      { purpose: PURPOSE, accountId, email },
      LIFETIME,
      (account) =>
        account.email === accountEmail &&
        account.passwordChangedAt.toISOString() === passwordChangedAt &&
        attempt.isCurrent(),
    );
    return link === undefined ? undefined : { to: { address: email }, ...texts.changeEmail(link) };
  }
}
