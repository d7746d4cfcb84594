import { Injectable } from '@nestjs/common';
import { Transactions } from '../platform/database/transactions.js';
import { siteOf } from '../platform/http/client.js';
import { currentContext } from '../platform/http/request-context.js';
import { type MailComposer, MailOutbox, MailQueue, MailSender } from '../platform/mail/index.js';
import { type Account } from './account.entity.js';
import { emailKey } from './email-address.js';
import * as texts from './mail-texts.js';
import { counterId, Counters, type Limit } from './counters.js';
import { OwnedByAccount, type OwnedData } from '../platform/access/index.js';

const MINUTE = 60_000;

const DAY = 24 * 60 * MINUTE;

/** Of the mails of a group to an address. */
const RECIPIENT: Limit = { interval: MINUTE, max: 20, period: DAY };

/** Of those, the mails that one network causes: it cannot use up the mails of the owner. */
const SHARE: Limit = { max: RECIPIENT.max / 2, period: DAY };

/** Of the mails that a network causes, to whatever address. */
const NETWORK: Limit = { max: 100, period: 60 * MINUTE };

const ofNetwork = (client: string): string => counterId('mails by', siteOf(client));

/** What a mail is counted for, in the order in which it is. @param client as in {@link AccountMails.take} */
function limitsOf(
  group: string,
  email: string,
  client?: string,
): readonly (readonly [id: string, limit: Limit])[] {
  const recipient = ['mails to', group, emailKey(email)] as const;
  const ofClient =
    client === undefined
      ? []
      : ([
          [ofNetwork(client), NETWORK],
          [counterId(...recipient, siteOf(client)), SHARE],
        ] as const);
  // Last: beyond its limits, a network must not take away the mails of others.
  return [...ofClient, [counterId(...recipient), RECIPIENT]];
}

/** Whom a mail is about: an account, or an address that may have none. */
type Owner = Pick<Account, 'id'> | Pick<Account, 'email'>;

/** What the outbox stores of a notice. */
interface NoticeData {
  readonly email: string;
  readonly notice: texts.Notice;
}

/**
 * Records mails about accounts, in the unit of work of their request. A mail is one file of its owner, such as
 * `PasswordResets`: who may request it and how often, and how it is written when it is sent.
 */
@Injectable()
@OwnedByAccount()
export class AccountMails implements OwnedData {
  constructor(
    private readonly outbox: MailOutbox,
    private readonly queue: MailQueue,
    private readonly sender: MailSender,
    private readonly counters: Counters,
    private readonly transactions: Transactions,
  ) {
    this.register('notice', async ({ email, notice }: NoticeData) => ({
      to: { address: email },
      ...texts.notice(notice),
    }));
  }

  requireOpen(): void {
    this.outbox.requireOpen();
  }

  register<Data>(kind: string, compose: MailComposer<Data>): void {
    this.sender.register(kind, compose);
  }

  /**
   * Allows one mail: of any number of concurrent requests, one is allowed.
   *
   * @param group the mails that are limited together
   * @param client the address of the client that causes it, unless it goes to the client's own address
   * @returns 0, or the seconds to wait
   */
  async take(group: string, email: string, client?: string): Promise<number> {
    const taken: string[] = [];
    for (const [id, limit] of limitsOf(group, email, client)) {
      const seconds = await this.counters.take(id, limit);
      if (seconds === 0) {
        taken.push(id);
        continue;
      }
      for (const each of taken) await this.counters.giveBack(each);
      return seconds;
    }
    return 0;
  }

  /** Whether {@link take} would allow no mail now. Counts nothing. */
  async isLimited(group: string, email: string, client?: string): Promise<boolean> {
    return (await this.counters.secondsToWait(limitsOf(group, email, client))) > 0;
  }

  /** Records a mail. Without a mail server, nothing is sent. @param data JSON, without secrets */
  async add(kind: string, owner: Owner, data: object): Promise<void> {
    if (this.outbox.isOpen) await this.outbox.add(kind, ownerOf(owner), data);
  }

  /** Like {@link add}. An earlier one that waits or is being sent is void: its token would replace the newer one. */
  async replace(kind: string, owner: Owner, data: object): Promise<void> {
    if (!this.outbox.isOpen) return;
    await this.transactions.run(async () => {
      await this.queue.discard([ownerOf(owner)], kind);
      await this.outbox.add(kind, ownerOf(owner), data);
    });
  }

  /**
   * Tells the owner of an account with a verified address that a way to log in was changed, so that a thief is noticed.
   * While the owner is not confirmed, the address may be another person's, and the network that causes the mail has a limit,
   * unless staff does it.
   *
   * @param account as it was before the change
   */
  async notify(account: Account, notice: texts.Notice): Promise<void> {
    if (!account.isEmailVerified) return;
    const { accountId = account.id, client } = currentContext() ?? {};
    const mayBeStranger = client !== undefined && !account.isOwnerConfirmed && accountId === account.id;
    if (mayBeStranger && (await this.counters.take(ofNetwork(client.address), NETWORK)) > 0) return;
    const data: NoticeData = { email: account.email, notice };
    await this.add('notice', account, data);
  }

  /** Discards the waiting mails about an account that is deleted. */
  async onDeletion({ id, email }: Pick<Account, 'id' | 'email'>): Promise<void> {
    await this.queue.discard([ownerOf({ id }), ownerOf({ email })]);
  }
}

/** The owner of a waiting mail, as the outbox stores it. */
const ownerOf = (who: Owner): string =>
  'id' in who ? `account ${who.id}` : `address ${emailKey(who.email)}`;
