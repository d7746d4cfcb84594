import { Module } from '@nestjs/common';
import { AccessModule } from './access/index.js';
import { LoginsModule } from './logins/index.js';
import { ProfileModule } from './profile/index.js';
import { RecoveryModule } from './recovery/index.js';
import { SessionsModule } from './sessions/index.js';
import { SocialModule } from './social/index.js';
import { TokensModule } from './tokens/index.js';

/**
 * Who someone is and what they may do. It knows no feature: these decorate their handlers. The order of the
 * modules is the order in which their credentials are asked: a bearer token wins over a cookie.
 */
@Module({
  imports: [
    AccessModule,
    TokensModule,
    SessionsModule,
    LoginsModule,
    ProfileModule,
    RecoveryModule,
    SocialModule,
  ],
})
export class AuthModule {}
