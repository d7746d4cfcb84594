import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, rowsOf } from '../../common/retention/account-data.js';
import { Purger } from '../../common/retention/purger.js';
import { Login } from './login.entity.js';
import { LoginsController } from './logins.controller.js';
import { Logins } from './logins.js';
import { LoginsService } from './logins.service.js';

/** The logins of accounts, by cookie and by token. */
@Module({
  imports: [TypeOrmModule.forFeature([Login])],
  controllers: [LoginsController],
  providers: [Logins, LoginsService],
  exports: [Logins],
})
export class LoginsModule {
  constructor(purger: Purger, accountData: AccountData) {
    purger.register('logins');
    accountData.register(rowsOf('logins'));
  }
}
