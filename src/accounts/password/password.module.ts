import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { AccountsService } from '../accounts.service.js';
import { AccountsModule } from '../accounts.module.js';
import { AccountData, RecentLogins } from '../../platform/access/index.js';
import { PasswordLogins } from './password-logins.js';
import { LoginThrottle } from './login-throttle.js';
import { PasswordChanges } from './password-changes.js';
import { PasswordPolicy } from './password-policy.js';
import { PasswordResets } from './password-resets.js';
import { Passwords } from './passwords.js';
import { PasswordsController } from './passwords.controller.js';
import { Registrations } from './registrations.js';

/** Passwords: registration, logins, changes and resets. */
@Module({
  imports: [AccountsModule],
  controllers: [PasswordsController],
  providers: [
    PasswordLogins,
    LoginThrottle,
    PasswordChanges,
    PasswordPolicy,
    PasswordResets,
    Passwords,
    Registrations,
  ],
  exports: [AccountsModule, LoginThrottle, PasswordChanges, PasswordLogins, Registrations],
})
export class PasswordModule {
  constructor(
    data: AccountData,
    recent: RecentLogins,
    logins: PasswordLogins,
    passwords: Passwords,
    accounts: AccountsService,
    registry: Registry,
  ) {
    data.register({ waysToLogIn: async (account) => ((await accounts.hasPassword(account)) ? 1 : 0) });
    recent.register({
      password: (...given) => logins.confirm(...given),
      identify: (...given) => logins.authenticate(...given),
    });
    passwords.measure(registry);
  }
}
