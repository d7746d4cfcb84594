import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AccountData } from './account-data.js';
import { AccessGuard } from './access.guard.js';
import { Authenticator } from './authenticator.js';
import { CredentialWatch } from './credential-watch.js';
import { RecentLogins } from './recent-logins.js';

/** The global guard, and what accounts own. It depends on no kind of credential: other modules provide those as strategies. */
@Module({
  imports: [DiscoveryModule],
  providers: [AccountData, Authenticator, AccessGuard, CredentialWatch, RecentLogins],
  exports: [AccountData, Authenticator, AccessGuard, CredentialWatch, RecentLogins],
})
export class AccessModule {}
