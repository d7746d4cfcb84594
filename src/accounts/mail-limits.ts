import { Injectable } from '@nestjs/common';
import { networkOf } from '../platform/http/client.js';
import { counterId, Counters, type Limit } from './counters.js';
import { emailKey } from './email-address.js';

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

/** Limits how often mails are sent to an address, and because of a client. */
@Injectable()
export class MailLimits {
  constructor(private readonly counters: Counters) {}

  /**
   * Allows one mail: of any number of concurrent requests, one is allowed. Call it in the unit of work that records the
   * mail.
   *
   * @param client the address of the client that causes it, unless it goes to the client's own address
   * @returns 0, or the seconds to wait
   */
  async take(kind: LimitedMails, email: string, client?: string): Promise<number> {
    const byClient = client === undefined ? undefined : counterId('mails by', networkOf(client));
    // The client first: beyond its limit, it must not take away the mails of others.
    const untilClient = byClient === undefined ? 0 : await this.counters.take(byClient, CLIENT);
    if (untilClient > 0) return untilClient;
    const untilRecipient = await this.counters.take(counterId('mails to', kind, emailKey(email)), RECIPIENT);
    if (untilRecipient > 0 && byClient !== undefined) await this.counters.giveBack(byClient);
    return untilRecipient;
  }
}
