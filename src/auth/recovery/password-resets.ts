import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../platform/http/client.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import { MailOutbox } from '../../platform/mail/index.js';
import { AccountMails, AccountTokens, MailLimits } from '../account-mails/index.js';
import { type Account, AccountsService, emailKey, PasswordPolicy, Passwords } from '../accounts/index.js';
import { ApiKeys } from '../api-keys/index.js';
import { Logins } from '../logins/index.js';
import { Passkeys } from '../passkeys/index.js';
import { SecondFactors } from '../second-factors/index.js';
import { SocialIdentities } from '../social/index.js';
import type { ConfirmResetInput } from './recovery.input.js';

/** Resets passwords through a link in a mail. */
@Injectable()
export class PasswordResets {
  constructor(
    private readonly accounts: AccountsService,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly logins: Logins,
    private readonly identities: SocialIdentities,
    private readonly passkeys: Passkeys,
    private readonly factors: SecondFactors,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
    private readonly limits: MailLimits,
    private readonly outbox: MailOutbox,
    private readonly apiKeys: ApiKeys,
    private readonly security: SecurityEvents,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  /** Does the same work for every address: the account is looked up when the mail is sent. */
  async request(email: string, { address }: ClientInfo): Promise<void> {
    this.outbox.requireOpen();
    this.security.record('reset_requested', { email: emailKey(email) });
    await this.transactions.run(async () => {
      const seconds = await this.limits.take('resets', email, address);
      if (seconds === 0) await this.mails.resetPassword(email);
    });
  }

  /**
   * Sets the password, and ends all logins and API keys.
   *
   * @param address of the client
   * @throws AppError `INVALID_CODE`; `VALIDATION_ERROR` for a password that breaks the policy (the token stays usable)
   */
  async confirm({ token, new_password }: ConfirmResetInput, address: string): Promise<void> {
    const found = await this.tokens.find('reset-password', token);
    const owner = await this.accounts.findOne(found.accountId);
    if (owner) await this.policy.check('new_password', new_password, owner);
    // Hashed before the transaction, which would block other writes meanwhile.
    const passwordHash = await this.passwords.hash(new_password, address);
    await this.transactions.run(async () => {
      const account = await this.tokens.consume(found);
      await this.removeUnverified(account);
      await this.accounts.setPasswordHash(account, passwordHash);
      await this.accounts.markVerified(account);
      await this.logins.endAll(account.id);
      await this.tokens.endAll(account.id);
      if (await this.apiKeys.removeAll(account.id)) await this.mails.notify(account, 'api-key-removed');
      await this.mails.notifyUnverified(account, 'password-changed');
      await this.changes.record({ actor: account.id });
    });
  }

  /** Removes what was added while the e-mail was not verified: whoever added it may not own the address. */
  private async removeUnverified(account: Account): Promise<void> {
    const { id, isEmailVerified } = account;
    if (!isEmailVerified) {
      await this.identities.removeAll(id);
      await this.passkeys.removeAll(id);
      await this.factors.remove(id);
      return;
    }
    if (await this.identities.removeUnverified(id)) await this.mails.notify(account, 'identity-removed');
    if (await this.passkeys.removeUnverified(id)) await this.mails.notify(account, 'passkey-removed');
    if (await this.factors.removeUnverified(account)) await this.mails.notify(account, 'factor-removed');
  }
}
