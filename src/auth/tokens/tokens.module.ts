import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { AccountData, CredentialWatch, exportOf, RecentLogins } from '../../platform/access/index.js';
import { Purger } from '../../platform/jobs/purger.js';
import { LoginModule } from '../login/login.module.js';
import { JwksController } from './jwks.controller.js';
import { JwtStrategy } from './jwt.strategy.js';
import { Login } from './login.entity.js';
import { toLoginView } from './login.view.js';
import { LoginsController } from './logins.controller.js';
import { LoginsService } from './logins.service.js';
import { RefreshTokens } from './refresh-tokens.js';
import { SigningKeys } from './signing-keys.js';
import { TokenCodec } from './token-codec.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';

/** The logins of accounts, by cookie and by token, and bearer tokens. */
@Module({
  imports: [
    TypeOrmModule.forFeature([Login]),
    AccountsModule,
    LoginModule,
    // `SigningKeys` has the keys.
    JwtModule.register({}),
  ],
  controllers: [LoginsController, JwksController, TokensController],
  providers: [JwtStrategy, LoginsService, RefreshTokens, SigningKeys, TokenCodec, TokensService],
  exports: [LoginsService, TokensService],
})
export class TokensModule {
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
