import { Module } from '@nestjs/common';
import { AccessModule, CredentialWatch } from '../platform/access/index.js';
import { ApiKeysModule } from './api-keys/index.js';
import { FactorsModule } from './factors/index.js';
import { Logins, LoginsModule } from './logins/index.js';
import { PasskeysModule } from './passkeys/index.js';
import { ProfileModule } from './profile/index.js';
import { RecoveryModule } from './recovery/index.js';
import { SessionsModule } from './sessions/index.js';
import { SocialModule } from './social/index.js';
import { TokensModule } from './tokens/index.js';

/**
 * Authentication and access control. It depends on no feature: features decorate their handlers. Credentials are tried
 * in the order of these modules: an API key or a bearer token takes precedence over a cookie.
 */
@Module({
  imports: [
    AccessModule,
    ApiKeysModule,
    TokensModule,
    SessionsModule,
    FactorsModule,
    PasskeysModule,
    LoginsModule,
    ProfileModule,
    RecoveryModule,
    SocialModule,
  ],
})
export class AuthModule {
  constructor(watch: CredentialWatch, logins: Logins) {
    watch.register({ idOf: ({ sid }) => sid, rightsOf: (ids) => logins.rightsOf(ids) });
  }
}
