import { Injectable } from '@nestjs/common';
import { Transactions } from '../platform/database/transactions.js';
import { networkOf } from '../platform/http/client.js';
import { MailOutbox, MailQueue, type templates } from '../platform/mail/index.js';
import { type Account } from './account.entity.js';
import { emailKey } from './email-address.js';
import { counterId, Counters, type Limit } from './counters.js';

const MINUTE = 60_000;

/** Of the mails of a kind to an address. */
const RECIPIENT: Limit = { interval: MINUTE, max: 20, period: 24 * 60 * MINUTE };

/** Of the mails that a client causes, to whatever address. */
const CLIENT: Limit = { max: 100, period: 60 * MINUTE };

/**
 * What is limited together: mails about addresses (registrations, repeated requests, and changes of address with their
 * notice to the former address), and resets of passwords.
 */
type LimitedMails = 'addresses' | 'resets';

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
    private readonly counters: Counters,
    private readonly transactions: Transactions,
  ) {}

  requireOpen(): void {
    this.outbox.requireOpen();
  }

  /**
   * Sends a confirmation link to the address of the account, unless the limit is reached.
   *
   * @param client the address of the client that causes it
   * @returns 0, or the seconds to wait
   */
  async verifyEmail(account: Account, client: string): Promise<number> {
    const seconds = await this.take('addresses', account.email, client);
    if (seconds === 0 && this.outbox.isOpen) await this.add('verify-email', account, account.email);
    return seconds;
  }

  /**
   * Sends a confirmation link to the new address, and a notice to the old one, unless they got a mail just now. The address
   * of an earlier request may have been a mistake.
   */
  async changeEmail(account: Account, email: string, client: string): Promise<void> {
    if ((await this.take('addresses', email, client)) === 0) await this.add('change-email', account, email);
    if ((await this.take('addresses', account.email)) === 0)
      await this.outbox.add('change-email-notice', ownerOf(account), { email: account.email });
  }

  /**
   * Tells the owner of an account with a verified address that a way to log in was changed, so that a thief is noticed.
   * It never fails its call: without a mail server, nothing is sent.
   *
   * @param account as it was before the change
   */
  async notify(account: Account, notice: templates.Notice): Promise<void> {
    if (!account.isEmailVerified || !this.outbox.isOpen) return;
    await this.outbox.add('notice', ownerOf(account), { email: account.email, notice });
  }

  /** Sends a reset link to the address, if there is an active account with it, unless the limit is reached. */
  async resetPassword(email: string, client: string): Promise<void> {
    // Counted before the transaction: it would keep the count of its client from all others.
    if ((await this.take('resets', email, client)) > 0) return;
    await this.transactions.run(() => this.replace('reset-password', ownerOf({ email }), { email }));
  }

  /** Discards the waiting mails about an account that is deleted. */
  async discard({ id, email }: Pick<Account, 'id' | 'email'>): Promise<void> {
    await this.queue.discard([ownerOf({ id }), ownerOf({ email })]);
  }

  /**
   * Allows one mail: of any number of concurrent requests, one is allowed.
   *
   * @param client the address of the client that causes it, unless it goes to the client's own address
   * @returns 0, or the seconds to wait
   */
  private async take(kind: LimitedMails, email: string, client?: string): Promise<number> {
    const byClient = client === undefined ? undefined : counterId('mails by', networkOf(client));
    // The client first: beyond its limit, it must not take away the mails of others.
    const untilClient = byClient === undefined ? 0 : await this.counters.take(byClient, CLIENT);
    if (untilClient > 0) return untilClient;
    const untilRecipient = await this.counters.take(counterId('mails to', kind, emailKey(email)), RECIPIENT);
    if (untilRecipient > 0 && byClient !== undefined) await this.counters.giveBack(byClient);
    return untilRecipient;
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

/** The owner of a waiting mail, as the outbox stores it: by id, or by an address that may have no account. */
const ownerOf = (who: { readonly id: number } | { readonly email: string }): string =>
  'id' in who ? `account ${who.id}` : `address ${emailKey(who.email)}`;
