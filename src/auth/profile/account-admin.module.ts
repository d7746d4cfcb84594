import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountTokensModule } from '../account-mails/index.js';
import { Account, AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { IdentitiesModule } from '../social/index.js';
import { AccountAdmin } from './account-admin.js';
import { AccountRemoval } from './account-removal.js';

/** What operators do with all accounts. Commands use it, so it imports nothing that serves or sends. */
@Module({
  imports: [
    TypeOrmModule.forFeature([Account]),
    AccountsModule,
    AccountTokensModule,
    LoginsModule,
    IdentitiesModule,
  ],
  providers: [AccountAdmin, AccountRemoval],
  exports: [AccountAdmin, AccountRemoval],
})
export class AccountAdminModule {}
