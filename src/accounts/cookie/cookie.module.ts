import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module.js';
import { LoginModule } from '../login/login.module.js';
import { PasskeyModule } from '../passkey/passkey.module.js';
import { SocialModule } from '../social/social.module.js';
import { Csrf } from './csrf.js';
import { SessionCookie, SessionStrategy } from './cookie.strategy.js';
import { SessionsController } from './cookie.controller.js';
import { SessionsService } from './cookie.service.js';

/** Logins of browsers, by cookie. */
@Module({
  imports: [TokensModule, PasskeyModule, SocialModule, LoginModule],
  controllers: [SessionsController],
  providers: [Csrf, SessionCookie, SessionStrategy, SessionsService],
  exports: [SessionCookie, SessionsService],
})
export class SessionModule {}
