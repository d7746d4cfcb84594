import { Module } from '@nestjs/common';
import { ApiKeyModule } from '../accounts/api-key/api-key.module.js';
import { PasskeyModule } from '../accounts/passkey/passkey.module.js';
import { PasswordModule } from '../accounts/password/password.module.js';
import { CookieModule } from '../accounts/cookie/cookie.module.js';
import { SocialModule } from '../accounts/social/social.module.js';
import { TokensModule } from '../accounts/tokens/tokens.module.js';
import { TotpModule } from '../accounts/totp/totp.module.js';

/**
 * Ways to log in. It depends on no feature: features decorate their handlers. Credentials are tried in the order of these
 * modules: an API key or a bearer token takes precedence over a cookie.
 */
@Module({
  imports: [
    ApiKeyModule,
    TokensModule,
    CookieModule,
    TotpModule,
    PasskeyModule,
    PasswordModule,
    SocialModule,
  ],
})
export class AuthModule {}
