import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Registry } from 'prom-client';
import { EventRecordsModule } from '../../platform/changes/index.js';
import { Purger } from '../../platform/jobs/purger.js';
import { Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { Credentials } from './credentials.js';
import { LoginFailure } from './login-failure.entity.js';
import { LoginWays } from './login-ways.js';
import { LoginThrottle } from './login-throttle.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { Passwords } from './passwords/passwords.js';

/** Accounts and their passwords. It exports `Changes` to the modules of `auth`: in a command nothing else does. */
@Module({
  imports: [TypeOrmModule.forFeature([Account, LoginFailure]), EventRecordsModule],
  providers: [AccountsService, Credentials, LoginThrottle, LoginWays, PasswordPolicy, Passwords],
  exports: [
    AccountsService,
    Credentials,
    EventRecordsModule,
    LoginThrottle,
    LoginWays,
    PasswordPolicy,
    Passwords,
  ],
})
export class AccountsModule {
  constructor(purger: Purger, passwords: Passwords, registry: Registry) {
    purger.register('login_failures');
    passwords.measure(registry);
  }
}
