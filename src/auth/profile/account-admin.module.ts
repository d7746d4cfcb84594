import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Purger } from '../../platform/jobs/purger.js';
import { AccountTokensModule } from '../account-mails/index.js';
import { Account, AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { StoredApiKeysModule } from '../api-keys/index.js';
import { StoredPasskeysModule } from '../passkeys/index.js';
import { SecondFactorsModule } from '../second-factors/index.js';
import { IdentitiesModule } from '../social/index.js';
import { AccountAdmin } from './account-admin.js';
import { AccountRemoval } from './account-removal.js';
import { UnverifiedAccounts } from './unverified-accounts.js';

/** What operators do with all accounts. Commands use it, so it imports nothing that serves or sends. */
@Module({
  imports: [
    TypeOrmModule.forFeature([Account]),
    AccountsModule,
    AccountTokensModule,
    LoginsModule,
    IdentitiesModule,
    SecondFactorsModule,
    StoredApiKeysModule,
    StoredPasskeysModule,
  ],
  providers: [AccountAdmin, AccountRemoval, UnverifiedAccounts],
  exports: [AccountAdmin, AccountRemoval],
})
export class AccountAdminModule {
  constructor(purger: Purger, unverified: UnverifiedAccounts) {
    purger.registerTask('accounts', () => unverified.removeExpired());
  }
}
