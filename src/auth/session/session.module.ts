import { Module } from '@nestjs/common';
import { TotpModule } from '../totp/totp.module.js';
import { LoginsModule } from '../tokens/logins.module.js';
import { PasskeysModule } from '../passkey/passkey.module.js';
import { SocialModule } from '../social/social.module.js';
import { Csrf } from './csrf.js';
import { SessionCookie } from './session-cookie.js';
import { SessionStrategy } from './session.strategy.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';

/** Logins of browsers, by cookie. */
@Module({
  imports: [LoginsModule, PasskeysModule, SocialModule, TotpModule],
  controllers: [SessionsController],
  providers: [Csrf, SessionCookie, SessionStrategy, SessionsService],
})
export class SessionsModule {}
