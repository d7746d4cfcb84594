import { Module } from '@nestjs/common';
import { ApiKeysModule } from './api-keys/index.js';
import { TotpModule } from './factors/index.js';
import { LoginsModule } from './logins/index.js';
import { PasskeysModule } from './passkeys/index.js';
import { PasswordModule } from './password/index.js';
import { ProfileModule } from './profile/index.js';
import { RecoveryModule } from './recovery/index.js';
import { SessionsModule } from './sessions/index.js';
import { SocialModule } from './social/index.js';
import { TokensModule } from './tokens/index.js';

/**
 * Ways to log in, and access control. It depends on no feature: features decorate their handlers. Credentials are tried
 * in the order of these modules: an API key or a bearer token takes precedence over a cookie.
 */
@Module({
  imports: [
    ApiKeysModule,
    LoginsModule,
    TokensModule,
    TotpModule,
    PasskeysModule,
    SessionsModule,
    ProfileModule,
    PasswordModule,
    RecoveryModule,
    SocialModule,
  ],
})
export class AuthModule {}
