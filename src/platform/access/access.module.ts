import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AccessGuard } from './access.guard.js';
import { Authenticator } from './authenticator.js';
import { CredentialWatch } from './credential-watch.js';

/** The global guard. It depends on no kind of credential: other modules provide those as strategies. */
@Module({
  imports: [DiscoveryModule],
  providers: [Authenticator, AccessGuard, CredentialWatch],
  exports: [Authenticator, AccessGuard, CredentialWatch],
})
export class AccessModule {}
