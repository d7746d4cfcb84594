import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, rowsOf } from '../../platform/jobs/account-data.js';
import { Purger } from '../../platform/jobs/purger.js';
import { MailModule, MailQueue, MailQueueModule } from '../../platform/mail/index.js';
import { AccountsModule } from '../accounts/index.js';
import { AccountLinks } from './account-links.js';
import { AccountLetters } from './account-letters.js';
import { AccountMails, mailOwnersOf } from './account-mails.js';
import { AccountToken } from './account-token.entity.js';
import { AccountTokens } from './account-tokens.js';
import { MailLimit } from './mail-limit.entity.js';
import { MailLimits } from './mail-limits.js';

/** Records mails to the owners of accounts, and their tokens. Nothing in it sends, so commands may use it. */
@Module({
  imports: [TypeOrmModule.forFeature([AccountToken, MailLimit]), AccountsModule, MailQueueModule],
  providers: [AccountMails, AccountTokens, MailLimits],
  exports: [AccountMails, AccountTokens, MailLimits],
})
export class AccountTokensModule {
  constructor(purger: Purger, accountData: AccountData, mails: MailQueue) {
    accountData.register(rowsOf('account_tokens'), (account) => mails.discard(mailOwnersOf(account)));
    purger.register('account_tokens');
    purger.register('mail_limits');
  }
}

/** Mails to the owners of accounts: recorded, written and sent. */
@Module({
  imports: [AccountsModule, AccountTokensModule, MailModule],
  providers: [AccountLinks, AccountLetters],
  exports: [AccountTokensModule, MailModule],
})
export class AccountMailsModule {}
