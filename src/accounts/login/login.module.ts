import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, CredentialWatch, exportOf, RecentLogins } from '../../platform/access/index.js';
import { Purger } from '../../platform/jobs/purger.js';
import { PasswordModule } from '../password/password.module.js';
import { TotpModule } from '../totp/totp.module.js';
import { Session } from '../session.entity.js';
import { LoginSteps } from './login-steps.js';
import { toSessionView } from '../session.view.js';
import { SessionsController } from '../sessions.controller.js';
import { SessionsService } from '../sessions.service.js';

/** What every way to log in passes, and the logins that are open, by cookie and by token. */
@Module({
  imports: [TypeOrmModule.forFeature([Session]), PasswordModule, TotpModule],
  controllers: [SessionsController],
  providers: [SessionsService, LoginSteps],
  exports: [TypeOrmModule, SessionsService, LoginSteps],
})
export class LoginModule {
  constructor(
    data: AccountData,
    recent: RecentLogins,
    watch: CredentialWatch,
    purger: Purger,
    logins: SessionsService,
  ) {
    data.register({
      tables: ['sessions'],
      exports: {
        logins: exportOf(
          (id) => logins.list(id),
          (login) => {
            const { current: _, ...exported } = toSessionView(login, undefined);
            return exported;
          },
        ),
      },
      counts: { logins: ({ id }) => logins.count(id) },
      onSessionsEnd: ({ id }, except) => logins.endAll(id, except),
    });
    recent.register({ confirm: (sid) => logins.confirm(sid), isOpen: (sid) => logins.isOpen(sid) });
    watch.register({ idOf: ({ sid }) => sid, rightsOf: (ids) => logins.rightsOf(ids) });
    purger.register('sessions');
  }
}
