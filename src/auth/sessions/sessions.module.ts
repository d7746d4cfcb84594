import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { FactorsModule } from '../factors/index.js';
import { LoginsModule } from '../logins/index.js';
import { PasskeysModule } from '../passkeys/index.js';
import { IdentitiesModule } from '../social/index.js';
import { Csrf } from './csrf.js';
import { SessionCookie } from './session-cookie.js';
import { SessionStrategy } from './session.strategy.js';
import { SessionsController } from './sessions.controller.js';
import { Sessions } from './sessions.js';
import { SessionsService } from './sessions.service.js';

/** Logins of browsers, by cookie. */
@Module({
  imports: [AccountsModule, FactorsModule, IdentitiesModule, LoginsModule, PasskeysModule],
  controllers: [SessionsController],
  providers: [Csrf, SessionCookie, SessionStrategy, Sessions, SessionsService],
})
export class SessionsModule {}
