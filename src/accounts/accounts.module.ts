import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Registry } from 'prom-client';
import { AccountData, RecentLogins } from '../platform/access/index.js';
import { Purger } from '../platform/jobs/purger.js';
import { Account, NO_PASSWORD } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { Count, Counters } from './counters.js';
import { Credentials } from '../auth/password/credentials.js';
import { LoginThrottle } from '../auth/password/login-throttle.js';
import { OneTimeSecret, OneTimeSecrets } from './one-time-secrets.js';
import { PasswordPolicy } from '../auth/password/password-policy.js';
import { Passwords } from '../auth/password/passwords.js';

const PROVIDERS = [
  AccountsService,
  Counters,
  Credentials,
  LoginThrottle,
  OneTimeSecrets,
  PasswordPolicy,
  Passwords,
];

/** Accounts and their passwords. */
@Module({
  imports: [TypeOrmModule.forFeature([Account, Count, OneTimeSecret])],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class AccountsModule {
  constructor(
    data: AccountData,
    recent: RecentLogins,
    purger: Purger,
    credentials: Credentials,
    passwords: Passwords,
    registry: Registry,
  ) {
    data.register({
      tables: ['one_time_secrets'],
      waysToLogIn: async ({ passwordHash }) => (passwordHash === NO_PASSWORD ? 0 : 1),
    });
    recent.register({
      password: (...given) => credentials.confirm(...given),
      identify: (...given) => credentials.identify(...given),
    });
    purger.register('counters');
    purger.register('one_time_secrets');
    passwords.measure(registry);
  }
}
