import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { AccountsController } from './accounts.controller.js';
import { PasswordChanges } from './password-changes.js';

/** What people do with their own account. */
@Module({
  imports: [AccountsModule, LoginsModule],
  controllers: [AccountsController],
  providers: [PasswordChanges],
})
export class ProfileModule {}
