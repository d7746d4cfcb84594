import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module.js';
import { LoginModule } from '../login/login.module.js';
import { PasskeyModule } from '../passkey/passkey.module.js';
import { SocialModule } from '../social/social.module.js';
import { Csrf } from './csrf.js';
import { SessionCookie, CookieStrategy } from './cookie.strategy.js';
import { CookiesController } from './cookies.controller.js';
import { CookiesService } from './cookies.service.js';

/** Logins of browsers, by cookie. */
@Module({
  imports: [TokensModule, PasskeyModule, SocialModule, LoginModule],
  controllers: [CookiesController],
  providers: [Csrf, SessionCookie, CookieStrategy, CookiesService],
  exports: [SessionCookie, CookiesService],
})
export class CookieModule {}
