import { Module } from '@nestjs/common';
import { AccountMailsModule } from '../account-mails/index.js';
import { AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { SocialModule } from '../social/index.js';
import { AccountAdminModule } from './account-admin.module.js';
import { AccountExports } from './account-exports.js';
import { AccountDeletions } from './account-deletions.js';
import { AccountResolver } from './account.resolver.js';
import { AccountsController } from './accounts.controller.js';
import { PasswordChanges } from './password-changes.js';
import { Registrations } from './registrations.js';

/** What owners do with their account. */
@Module({
  imports: [AccountAdminModule, AccountsModule, AccountMailsModule, LoginsModule, SocialModule],
  controllers: [AccountsController],
  providers: [AccountDeletions, AccountExports, AccountResolver, PasswordChanges, Registrations],
})
export class ProfileModule {}
