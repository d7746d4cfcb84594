import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Purger } from '../common/purge/purger.js';
import { Config } from '../config/config.js';
import { AccessGuard } from './access.guard.js';
import { Account } from './accounts/account.entity.js';
import { AccountsController } from './accounts/accounts.controller.js';
import { AccountsService } from './accounts/accounts.service.js';
import { Credentials } from './accounts/credentials.js';
import { Authenticator } from './authenticator.js';
import { EXPIRING_TABLES } from './expiring-tables.js';
import { Login } from './logins/login.entity.js';
import { LoginsController } from './logins/logins.controller.js';
import { Logins } from './logins/logins.js';
import { LoginsService } from './logins/logins.service.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { Passwords } from './passwords/passwords.js';
import { Csrf } from './sessions/csrf.js';
import { SessionCookie } from './sessions/session-cookie.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { Sessions } from './sessions/sessions.js';
import { SessionsService } from './sessions/sessions.service.js';
import { LoginCode } from './social/login-code.entity.js';
import { LoginCodes } from './social/login-codes.js';
import { LoginFlows } from './social/login-flows.js';
import { ProviderClients } from './social/provider-clients.js';
import { SocialAccounts } from './social/social-accounts.js';
import { SocialIdentity } from './social/social-identity.entity.js';
import { SocialController } from './social/social.controller.js';
import { SocialService } from './social/social.service.js';
import { LoginThrottle } from './throttle/login-throttle.js';
import { AccessTokenStrategy } from './tokens/access-token.strategy.js';
import { TokenCodec } from './tokens/token-codec.js';
import { TokensController } from './tokens/tokens.controller.js';
import { TokensService } from './tokens/tokens.service.js';

/** Who someone is and what they may do. It knows no feature: these decorate their handlers. */
@Module({
  imports: [
    TypeOrmModule.forFeature([Account, Login, LoginCode, SocialIdentity]),
    JwtModule.registerAsync({
      inject: [Config],
      useFactory: ({ jwtSecret }: Config) => ({ secret: jwtSecret, signOptions: { algorithm: 'HS256' } }),
    }),
  ],
  controllers: [AccountsController, LoginsController, SessionsController, SocialController, TokensController],
  providers: [
    { provide: APP_GUARD, useClass: AccessGuard },
    {
      provide: PasswordPolicy,
      inject: [Config],
      useFactory: ({ passwordPolicy }: Config) => new PasswordPolicy(passwordPolicy),
    },
    Authenticator,
    AccessTokenStrategy,
    AccountsService,
    Credentials,
    Csrf,
    LoginCodes,
    LoginFlows,
    LoginThrottle,
    Logins,
    LoginsService,
    Passwords,
    ProviderClients,
    SessionCookie,
    Sessions,
    SessionsService,
    SocialAccounts,
    SocialService,
    TokenCodec,
    TokensService,
  ],
  exports: [Authenticator],
})
export class AuthModule {
  constructor(purger: Purger) {
    for (const table of EXPIRING_TABLES) purger.register(table);
  }
}
