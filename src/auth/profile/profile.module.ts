import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountMailsModule } from '../account-mails/index.js';
import { Account, AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { SocialModule } from '../social/index.js';
import { AccountAdmin } from './account-admin.js';
import { AccountDeletions } from './account-deletions.js';
import { AccountRemoval } from './account-removal.js';
import { AccountResolver } from './account.resolver.js';
import { AccountsController } from './accounts.controller.js';
import { PasswordChanges } from './password-changes.js';
import { Registrations } from './registrations.js';

/** What owners do with their account, and operators with all accounts. */
@Module({
  imports: [
    TypeOrmModule.forFeature([Account]),
    AccountsModule,
    AccountMailsModule,
    LoginsModule,
    SocialModule,
  ],
  controllers: [AccountsController],
  providers: [
    AccountAdmin,
    AccountDeletions,
    AccountRemoval,
    AccountResolver,
    PasswordChanges,
    Registrations,
  ],
})
export class ProfileModule {}
