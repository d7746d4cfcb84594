import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData } from '../platform/access/index.js';
import { Purger } from '../platform/jobs/purger.js';
import { MailModule } from '../platform/mail/index.js';
import { AccountAdmin } from './account-admin.js';
import { AccountChanges } from './account-changes.js';
import { AccountDeletion } from './account-deletion.js';
import { Account } from './account.entity.js';
import { AccountMails } from './account-mails.js';
import { AccountSearch } from './account-search.js';
import { AccountResolver } from './account.resolver.js';
import { AccountsController } from './accounts.controller.js';
import { AccountsService } from './accounts.service.js';
import { Count, Counters } from './counters.js';
import { EmailChanges } from './email-changes.js';
import { EmailController } from './email.controller.js';
import { EmailVerification } from './email-verification.js';
import { ManagedAccounts } from './managed-accounts.js';
import { ManagedAccountsController } from './managed-accounts.controller.js';
import { MailTokens } from './mail-tokens.js';
import { OneTimeSecret, OneTimeSecrets } from './one-time-secrets.js';
import { UnverifiedAccounts } from './unverified-accounts.js';

/** What every way to log in may use. */
const SHARED = [
  AccountChanges,
  AccountMails,
  AccountsService,
  Counters,
  EmailVerification,
  MailTokens,
  OneTimeSecrets,
];

/** Accounts: who somebody is. The modules of `auth` implement how they log in. */
@Module({
  imports: [TypeOrmModule.forFeature([Account, Count, OneTimeSecret]), MailModule],
  controllers: [AccountsController, EmailController, ManagedAccountsController],
  providers: [
    ...SHARED,
    AccountAdmin,
    AccountDeletion,
    AccountResolver,
    AccountSearch,
    EmailChanges,
    ManagedAccounts,
    UnverifiedAccounts,
  ],
  exports: [...SHARED, AccountAdmin, AccountSearch],
})
export class AccountsModule {
  constructor(
    data: AccountData,
    purger: Purger,
    mails: AccountMails,
    secrets: OneTimeSecrets,
    unverified: UnverifiedAccounts,
  ) {
    data.register({
      tables: ['one_time_secrets'],
      onCredentialsChange: ({ id }) => secrets.endMailed(id),
      onDeletion: (account) => mails.discard(account),
    });
    purger.register('counters');
    purger.register('one_time_secrets');
    purger.registerTask('accounts', () => unverified.removeExpired());
  }
}
