import { Global, Module } from '@nestjs/common';
import { Clock } from './ports/clock.js';
import { Drain } from './server/drain.js';
import { Upgrades } from './server/upgrades.js';
import { AccountData } from './retention/account-data.js';
import { Purger, PurgeSchedule } from './retention/purger.js';
import { JsonScalar } from './http/json.scalar.js';
import { RateLimiter } from './http/rate-limiter.js';

/** Providers for every module. */
@Global()
@Module({
  providers: [AccountData, Clock, Drain, JsonScalar, Purger, PurgeSchedule, RateLimiter, Upgrades],
  exports: [AccountData, Clock, Drain, Purger, RateLimiter, Upgrades],
})
export class CommonModule {}
