import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Registry } from 'prom-client';
import { Config } from './config/config.js';
import { currentClient } from './http/client.js';
import { Clock } from './jobs/clock.js';
import { SecurityEvents } from './http/security-events.js';
import { Drain } from './operations/drain.js';
import { Upgrades } from './http/edge/upgrades.js';
import { Readiness } from './operations/readiness.service.js';
import { AccountData } from './jobs/account-data.js';
import { Purger, PurgeSchedule } from './jobs/purger.js';
import { DateTimeScalar } from './graphql/date-time.scalar.js';
import { JsonScalar } from './graphql/json.scalar.js';
import { RateLimiter } from './http/rate-limiter.js';
import { SearchesByClient } from './jobs/search-queue.js';
import { RouteConfigCheck } from './http/route-config.js';

/** Providers for every module. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    AccountData,
    Clock,
    DateTimeScalar,
    Drain,
    JsonScalar,
    Purger,
    PurgeSchedule,
    RateLimiter,
    Readiness,
    RouteConfigCheck,
    SearchesByClient,
    Upgrades,
    {
      provide: SecurityEvents,
      inject: [Config, Registry],
      useFactory: (config: Config, registry: Registry) => new SecurityEvents(config, currentClient, registry),
    },
  ],
  exports: [AccountData, Clock, Drain, Purger, RateLimiter, Readiness, SecurityEvents, Upgrades],
})
export class PlatformModule {}
