import { Module } from '@nestjs/common';
import { ApiKeysModule } from './api-key/api-key.module.js';
import { TotpModule } from './totp/totp.module.js';
import { LoginsModule } from './tokens/logins.module.js';
import { PasskeysModule } from './passkey/passkey.module.js';
import { PasswordModule } from './password/password.module.js';
import { ProfileModule } from '../accounts/profile.module.js';
import { RecoveryModule } from '../accounts/recovery.module.js';
import { SessionsModule } from './session/session.module.js';
import { SocialModule } from './social/social.module.js';
import { TokensModule } from './tokens/tokens.module.js';

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
