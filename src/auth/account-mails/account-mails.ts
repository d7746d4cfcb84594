import { Injectable } from '@nestjs/common';
import { MailOutbox, MailQueue, type templates } from '../../platform/mail/index.js';
import { type Account, emailKey } from '../accounts/index.js';

/** What the outbox stores of a mail until it is sent. */
export interface MailData {
  readonly accountId: number;
  /** The recipient. */
  readonly email: string;
  /** E-mail and password as they were at the request; if one changes before the mail is sent, the request is void. */
  readonly accountEmail: string;
  readonly passwordChangedAt: string;
}

/** What the outbox stores of a notice. */
export interface NoticeData {
  readonly email: string;
  readonly notice: templates.Notice;
}

/**
 * Records the mails about accounts, in the unit of work of the request. `AccountLetters` decides the recipient when the
 * mail is sent, so that a request takes the same time whether or not there is an account.
 */
@Injectable()
export class AccountMails {
  constructor(
    private readonly outbox: MailOutbox,
    private readonly queue: MailQueue,
  ) {}

  /** Sends a confirmation link to the address of the account. */
  async verifyEmail(account: Account): Promise<void> {
    if (this.outbox.isOpen) await this.add('verify-email', account, account.email);
  }

  /** Sends a confirmation link to the new address. The address of an earlier request may have been a mistake. */
  async changeEmail(account: Account, email: string): Promise<void> {
    await this.add('change-email', account, email);
  }

  /**
   * Tells the owner of an account with a verified address that a way to log in was changed, so that a thief is noticed.
   * It never fails its call: without a mail server, nothing is sent.
   *
   * @param account as it was before the change
   */
  async notify(account: Account, notice: templates.Notice): Promise<void> {
    if (account.isEmailVerified) await this.notifyUnverified(account, notice);
  }

  /** The same for an address that the change itself verifies. */
  async notifyUnverified(account: Account, notice: templates.Notice): Promise<void> {
    if (!this.outbox.isOpen) return;
    await this.outbox.add('notice', ownerOf(account), { email: account.email, notice });
  }

  /** Tells the owner of the old address about a requested change. */
  async announceChange(account: Account): Promise<void> {
    await this.outbox.add('change-email-notice', ownerOf(account), { email: account.email });
  }

  /** Sends a reset link to the address, if there is an active account with it. */
  async resetPassword(email: string): Promise<void> {
    await this.replace('reset-password', ownerOf({ email }), { email });
  }

  private async add(kind: string, account: Account, email: string): Promise<void> {
    const { id: accountId, email: accountEmail } = account;
    const passwordChangedAt = account.passwordChangedAt.toISOString();
    const data: MailData = { accountId, email, accountEmail, passwordChangedAt };
    await this.replace(kind, ownerOf(account), data);
  }

  /** Records a mail. An earlier one that waits or is being sent is void: its token would replace the newer one. */
  private async replace(kind: string, owner: string, data: object): Promise<void> {
    await this.queue.discard([owner], kind);
    await this.outbox.add(kind, owner, data);
  }
}

/** The owners of waiting mails about an account, as the outbox stores them. */
export const mailOwnersOf = ({ id, email }: Pick<Account, 'id' | 'email'>): string[] => [
  ownerOf({ id }),
  ownerOf({ email }),
];

/** By their id, or by an address that may have no account. */
const ownerOf = (who: { readonly id: number } | { readonly email: string }): string =>
  'id' in who ? `account ${who.id}` : `address ${emailKey(who.email)}`;
