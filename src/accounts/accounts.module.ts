import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
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
import { Session } from './session.entity.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';
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
  SessionsService,
];

/** Accounts: who somebody is, and their sessions. The folders are the ways to log in. */
@Module({
  imports: [TypeOrmModule.forFeature([Account, Count, OneTimeSecret, Session]), MailModule],
  controllers: [AccountsController, EmailController, ManagedAccountsController, SessionsController],
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
  exports: [TypeOrmModule, ...SHARED, AccountAdmin, AccountSearch],
})
export class AccountsModule {
  constructor(purger: Purger, unverified: UnverifiedAccounts) {
    purger.register('counters');
    purger.register('one_time_secrets');
    purger.registerTask('accounts', () => unverified.removeExpired());
  }
}
