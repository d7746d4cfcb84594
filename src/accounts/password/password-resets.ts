import { Injectable } from '@nestjs/common';
import { Transactions } from '../../platform/database/transactions.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import type { MailAttempt } from '../../platform/mail/index.js';
import { AccountChanges } from '../account-changes.js';
import type { Account } from '../account.entity.js';
import { AccountMails } from '../account-mails.js';
import * as texts from '../mail-texts.js';
import { invalidCode, MailTokens } from '../mail-tokens.js';
import { AccountsService } from '../accounts.service.js';
import { emailKey } from '../email-address.js';
import { PASSWORD_CHANGED } from './password-changes.js';
import { PasswordPolicy } from './password-policy.js';
import type { ConfirmResetInput } from './password.input.js';

const PURPOSE = 'reset-password';

/** How long a link is valid, in milliseconds. */
const LIFETIME = 3600_000;

/** What the outbox stores until the mail is sent. */
interface MailData {
  /** The requested address. */
  readonly email: string;
}

/** Resets passwords through a link in a mail. */
@Injectable()
export class PasswordResets {
  constructor(
    private readonly accounts: AccountsService,
    private readonly policy: PasswordPolicy,
    private readonly tokens: MailTokens,
    private readonly mails: AccountMails,
    private readonly changes: AccountChanges,
    private readonly security: SecurityEvents,
    private readonly transactions: Transactions,
  ) {
    mails.register(PURPOSE, (mail: MailData, attempt) => this.compose(mail, attempt));
  }

  /**
   * Sends a link to the address, if there is an active account with it, unless the limit is reached. Does the same work for
   * every address: the account is looked up when the mail is sent.
   */
  async request(email: string, { address }: ClientInfo): Promise<void> {
    this.mails.requireOpen();
    this.security.record('reset_requested', { email: emailKey(email) });
    // Before the transaction, which would take a connection from others for each refused call.
    if (await this.mails.isLimited('resets', email, address)) return;
    // In one transaction: a mail that is not recorded does not count.
    await this.transactions.run(async () => {
      if ((await this.mails.take('resets', email, address)) === 0)
        await this.mails.replace(PURPOSE, { email }, { email });
    });
  }

  /**
   * Sets the password, and ends all logins and API keys.
   *
   * @param address of the client
   * @throws AppError `INVALID_CODE`; `VALIDATION_ERROR` for a password that breaks the policy (the token stays usable)
   */
  async confirm({ token, new_password }: ConfirmResetInput, address: string): Promise<void> {
    const found = await this.tokens.get(PURPOSE, token);
    const id = found.accountId;
    const hash = await this.policy.hash('new_password', new_password, await this.accounts.find(id), address);
    await this.changes.run(id, { ...PASSWORD_CHANGED, actor: id, deleted: invalidCode }, async (account) => {
      await this.tokens.use(found, account);
      await this.accounts.resetPassword(account, hash);
      // The reset has verified the address, so that the notice is sent to it.
      account.isEmailVerified = true;
    });
  }

  private async compose({ email }: MailData, attempt: MailAttempt) {
    const found = await this.accounts.findByEmail(email);
    if (!found) return undefined;
    // Sends to the stored address: another spelling may be another mailbox.
    const { id: accountId, email: address } = found;
    const owner = { purpose: PURPOSE, accountId, email: address };
    const isWanted = (account: Account) => account.email === address && attempt.isCurrent();
    const link = await this.tokens.issueLink(owner, LIFETIME, isWanted);
    return link === undefined ? undefined : { to: { address }, ...texts.resetPassword(link) };
  }
}
