import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, exportOf, rowsOf } from '../../platform/jobs/account-data.js';
import { Purger } from '../../platform/jobs/purger.js';
import { AccountsModule } from '../accounts/index.js';
import { SecondFactorsModule } from '../second-factors/index.js';
import { Login } from './login.entity.js';
import { toLoginView } from './login.view.js';
import { LoginsController } from './logins.controller.js';
import { Logins } from './logins.js';
import { RecentLogins } from './recent-logins.js';
import { LoginsService } from './logins.service.js';

/** The logins of accounts, by cookie and by token. */
@Module({
  imports: [TypeOrmModule.forFeature([Login]), AccountsModule, SecondFactorsModule],
  controllers: [LoginsController],
  providers: [Logins, LoginsService, RecentLogins],
  exports: [Logins, RecentLogins],
})
export class LoginsModule {
  constructor(purger: Purger, accountData: AccountData, logins: Logins) {
    purger.register('logins');
    accountData.register(rowsOf('logins'));
    accountData.registerExport(
      'logins',
      exportOf(
        (id) => logins.list(id),
        (login) => {
          const { current: _, ...exported } = toLoginView(login, undefined);
          return exported;
        },
      ),
    );
  }
}
