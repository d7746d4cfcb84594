import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Purger } from '../../common/purge/purger.js';
import { MailModule } from '../../mail/index.js';
import { AccountsModule } from '../accounts/index.js';
import { AccountLinks } from './account-links.js';
import { AccountMails } from './account-mails.js';
import { AccountToken } from './account-token.entity.js';
import { AccountTokens } from './account-tokens.js';
import { MailLimit } from './mail-limit.entity.js';
import { MailLimits } from './mail-limits.js';

/** Mails to the owners of accounts, and the tokens in these mails. */
@Module({
  imports: [TypeOrmModule.forFeature([AccountToken, MailLimit]), AccountsModule, MailModule],
  providers: [AccountLinks, AccountMails, AccountTokens, MailLimits],
  exports: [AccountMails, AccountTokens, MailLimits, MailModule],
})
export class AccountMailsModule {
  constructor(purger: Purger) {
    purger.register('account_tokens');
    purger.register('mail_limits');
  }
}
