import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, CredentialWatch, exportOf, RecentLogins } from '../../platform/access/index.js';
import { Purger } from '../../platform/jobs/purger.js';
import { AccountMailsModule } from '../../accounts/account-mails.module.js';
import { Login } from './login.entity.js';
import { toLoginView } from './login.view.js';
import { LoginsController } from './logins.controller.js';
import { LoginsService } from './logins.service.js';

/** The logins of accounts, by cookie and by token. */
@Module({
  imports: [TypeOrmModule.forFeature([Login]), AccountMailsModule],
  controllers: [LoginsController],
  providers: [LoginsService],
  exports: [LoginsService],
})
export class LoginsModule {
  constructor(
    data: AccountData,
    recent: RecentLogins,
    watch: CredentialWatch,
    purger: Purger,
    logins: LoginsService,
  ) {
    data.register({
      tables: ['logins'],
      exports: {
        logins: exportOf(
          (id) => logins.list(id),
          (login) => {
            const { current: _, ...exported } = toLoginView(login, undefined);
            return exported;
          },
        ),
      },
      onLoginsEnd: ({ id }, except) => logins.endAll(id, except),
    });
    recent.register({ confirm: (sid) => logins.confirm(sid), isOpen: (sid) => logins.isOpen(sid) });
    watch.register({ idOf: ({ sid }) => sid, rightsOf: (ids) => logins.rightsOf(ids) });
    purger.register('logins');
  }
}
