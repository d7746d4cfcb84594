import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { type MailAttempt, type MailMessage, MailSender, templates } from '../platform/mail/index.js';
import { type Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import type { MailData, NoticeData } from './account-mails.js';
import { MailTokens, type TokenPurpose } from './mail-tokens.js';

/** Writes the mails that `AccountMails` has recorded, when they are sent. */
@Injectable()
export class AccountLetters {
  constructor(
    private readonly accounts: AccountsService,
    private readonly tokens: MailTokens,
    private readonly config: Config,
    sender: MailSender,
  ) {
    sender.register('verify-email', (data: MailData, attempt) => this.composeVerification(data, attempt));
    sender.register('change-email', (data: MailData, attempt) => this.composeChange(data, attempt));
    sender.register('change-email-notice', async ({ email }: Pick<MailData, 'email'>) =>
      letter(email, templates.emailChangeRequested()),
    );
    sender.register('notice', async ({ email, notice }: NoticeData) =>
      letter(email, templates.notice(notice)),
    );
    sender.register('reset-password', ({ email }: MailData, attempt) => this.composeReset(email, attempt));
  }

  private async composeVerification(
    { accountId, email }: MailData,
    attempt: MailAttempt,
  ): Promise<MailMessage | undefined> {
    const token = await this.tokens.issue(
      accountId,
      'verify-email',
      email,
      (account) => account.email === email && !account.isEmailVerified && attempt.isCurrent(),
    );
    if (token === undefined) return undefined;
    return letter(email, templates.verifyEmail(this.linkTo('verify-email', token)));
  }

  private async composeChange(data: MailData, attempt: MailAttempt): Promise<MailMessage | undefined> {
    const { accountId, email, accountEmail, passwordChangedAt } = data;
    const owner = await this.accounts.findByEmail(email);
    if (owner && owner.id !== accountId) return letter(owner.email, templates.emailTaken());
    const token = await this.tokens.issue(
      accountId,
      'change-email',
      email,
      (account) =>
        account.email === accountEmail &&
        account.passwordChangedAt.toISOString() === passwordChangedAt &&
        attempt.isCurrent(),
    );
    if (token === undefined) return undefined;
    return letter(email, templates.changeEmail(this.linkTo('change-email', token)));
  }

  private async composeReset(email: string, attempt: MailAttempt): Promise<MailMessage | undefined> {
    const account = await this.accounts.findByEmail(email);
    if (!account) return undefined;
    // Sends to the stored address: another spelling may be another mailbox.
    const { id, email: address } = account;
    const isSame = (current: Account) => current.email === address && attempt.isCurrent();
    const token = await this.tokens.issue(id, 'reset-password', address, isSame);
    if (token === undefined) return undefined;
    return letter(address, templates.resetPassword(this.linkTo('reset-password', token)));
  }

  /** The token is in the fragment, which browsers send neither to a server nor in `Referer`. */
  private linkTo(purpose: TokenPurpose, token: string): string {
    const { accountLinksUrl, publicUrl } = this.config;
    return `${accountLinksUrl ?? `${publicUrl}/account/`}#action=${purpose}&token=${token}`;
  }
}

const letter = (address: string, content: Omit<MailMessage, 'to'>): MailMessage => ({
  to: { address },
  ...content,
});
