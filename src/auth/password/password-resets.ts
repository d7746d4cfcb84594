import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../platform/http/client.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { AccountChanges } from '../../accounts/account-changes.js';
import { AccountMails } from '../../accounts/account-mails.js';
import { invalidCode, MailTokens } from '../../accounts/mail-tokens.js';
import { AccountsService } from '../../accounts/accounts.service.js';
import { emailKey } from '../../accounts/email-address.js';
import { PasswordPolicy } from './password-policy.js';
import type { ConfirmResetInput } from './password.input.js';

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
  ) {}

  /** Does the same work for every address: the account is looked up when the mail is sent. */
  async request(email: string, { address }: ClientInfo): Promise<void> {
    this.mails.requireOpen();
    this.security.record('reset_requested', { email: emailKey(email) });
    await this.mails.resetPassword(email, address);
  }

  /**
   * Sets the password, and ends all logins and API keys.
   *
   * @param address of the client
   * @throws AppError `INVALID_CODE`; `VALIDATION_ERROR` for a password that breaks the policy (the token stays usable)
   */
  async confirm({ token, new_password }: ConfirmResetInput, address: string): Promise<void> {
    const found = await this.tokens.find('reset-password', token);
    const id = found.accountId;
    const hash = await this.policy.hash(
      'new_password',
      new_password,
      await this.accounts.findOne(id),
      address,
    );
    await this.changes.run(
      id,
      { notice: 'password-changed', actor: id, deleted: invalidCode },
      async (account) => {
        await this.tokens.use(found, account);
        await this.accounts.resetPassword(account, hash);
        // The reset has verified the address, so that the notice is sent to it.
        account.isEmailVerified = true;
      },
    );
  }
}
