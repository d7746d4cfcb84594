import { Module } from '@nestjs/common';
import { ApiKeyModule } from './api-key/api-key.module.js';
import { PasskeyModule } from './passkey/passkey.module.js';
import { PasswordModule } from './password/password.module.js';
import { SessionModule } from './session/session.module.js';
import { SocialModule } from './social/social.module.js';
import { TokensModule } from './tokens/tokens.module.js';
import { TotpModule } from './totp/totp.module.js';

/**
 * Ways to log in. It depends on no feature: features decorate their handlers. Credentials are tried in the order of these
 * modules: an API key or a bearer token takes precedence over a cookie.
 */
@Module({
  imports: [
    ApiKeyModule,
    TokensModule,
    SessionModule,
    TotpModule,
    PasskeyModule,
    PasswordModule,
    SocialModule,
  ],
})
export class AuthModule {}
