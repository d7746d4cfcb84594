import { Module } from '@nestjs/common';
import { AccountData } from '../platform/access/index.js';
import { MailModule } from '../platform/mail/index.js';
import { AccountsModule } from './accounts.module.js';
import { AccountChanges } from './account-changes.js';
import { AccountLetters } from './account-letters.js';
import { AccountMails } from './account-mails.js';
import { MailLimits } from './mail-limits.js';
import { MailTokens } from './mail-tokens.js';

/** Mails to the owners of accounts: recorded, written and sent. */
@Module({
  imports: [AccountsModule, MailModule],
  providers: [AccountChanges, AccountLetters, AccountMails, MailLimits, MailTokens],
  exports: [AccountChanges, AccountMails, MailModule, MailTokens],
})
export class AccountMailsModule {
  constructor(data: AccountData, mails: AccountMails, tokens: MailTokens) {
    data.register({
      onCredentialsChange: ({ id }) => tokens.endAll(id),
      onDeletion: (account) => mails.discard(account),
    });
  }
}
