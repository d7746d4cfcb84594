import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, type Erasure, rowsOf } from '../../common/retention/account-data.js';
import { Purger } from '../../common/retention/purger.js';
import { MailModule, MailQueue } from '../../mail/index.js';
import { AccountsModule } from '../accounts/index.js';
import { AccountLinks } from './account-links.js';
import { AccountMails, mailOwnersOf } from './account-mails.js';
import { AccountToken } from './account-token.entity.js';
import { AccountTokens } from './account-tokens.js';
import { MailLimit } from './mail-limit.entity.js';
import { MailLimits } from './mail-limits.js';

/** The tokens of an account, and the mails that wait to be sent to its owner. */
export const mailErasures = (mails: MailQueue): readonly Erasure[] => [
  rowsOf('account_tokens'),
  (account) => mails.discard(mailOwnersOf(account)),
];

/** Mails to the owners of accounts, and the tokens in these mails. */
@Module({
  imports: [TypeOrmModule.forFeature([AccountToken, MailLimit]), AccountsModule, MailModule],
  providers: [AccountLinks, AccountMails, AccountTokens, MailLimits],
  exports: [AccountMails, AccountTokens, MailLimits, MailModule],
})
export class AccountMailsModule {
  constructor(purger: Purger, accountData: AccountData, mails: MailQueue) {
    accountData.register(...mailErasures(mails));
    purger.register('account_tokens');
    purger.register('mail_limits');
  }
}
