import { Module } from '@nestjs/common';
import { AccountMailsModule } from '../../accounts/account-mails.module.js';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { PasswordChanges } from './password-changes.js';
import { PasswordResets } from './password-resets.js';
import { PasswordsController } from './passwords.controller.js';
import { Registrations } from './registrations.js';

/** Passwords: registration, changes and resets. */
@Module({
  imports: [AccountMailsModule, AccountsModule],
  controllers: [PasswordsController],
  providers: [PasswordChanges, PasswordResets, Registrations],
  exports: [PasswordChanges, Registrations],
})
export class PasswordModule {}
