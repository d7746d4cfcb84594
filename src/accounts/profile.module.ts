import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Purger } from '../platform/jobs/purger.js';
import { AccountMailsModule } from './account-mails.module.js';
import { Account } from './account.entity.js';
import { AccountsModule } from './accounts.module.js';
import { AccountAdmin } from './account-admin.js';
import { AccountDeletion } from './account-deletion.js';
import { AccountExport } from './account-export.js';
import { AccountResolver } from './account.resolver.js';
import { AccountsController } from './accounts.controller.js';
import { UnverifiedAccounts } from './unverified-accounts.js';

/** What owners and operators do with accounts. */
@Module({
  imports: [TypeOrmModule.forFeature([Account]), AccountsModule, AccountMailsModule],
  controllers: [AccountsController],
  providers: [AccountAdmin, AccountDeletion, AccountExport, AccountResolver, UnverifiedAccounts],
  exports: [AccountAdmin],
})
export class ProfileModule {
  constructor(purger: Purger, unverified: UnverifiedAccounts) {
    purger.registerTask('accounts', () => unverified.removeExpired());
  }
}
