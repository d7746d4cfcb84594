import { Global, Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { AccessGuard } from './access.guard.js';
import { Authenticator } from './authenticator.js';

/** The global guard. It depends on no kind of credential: those are strategies of other modules. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [Authenticator, AccessGuard, { provide: APP_GUARD, useExisting: AccessGuard }],
  exports: [Authenticator, AccessGuard],
})
export class AccessModule {}
