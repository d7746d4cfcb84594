import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { AccountsModule } from '../accounts.module.js';
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
  constructor(passwords: Passwords, registry: Registry) {
    passwords.measure(registry);
  }
}
