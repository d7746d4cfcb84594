import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Registry } from 'prom-client';
import { AccessModule } from './access/index.js';
import { ChangesModule } from './changes/index.js';
import { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { DatabaseModule } from './database/database.module.js';
import { EncryptionModule } from './encryption/index.js';
import { GraphqlModule } from './graphql/graphql.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { MetricsModule } from './operations/metrics.module.js';
import { ReferenceModule } from './reference/reference.module.js';
import { currentContext } from './http/request-context.js';
import { BackgroundTasks } from './jobs/background-task.js';
import { Clock } from './jobs/clock.js';
import { SecurityEvents } from './http/security-events.js';
import { Drain } from './operations/drain.js';
import { Readiness } from './operations/readiness.service.js';
import { Purger, PurgeSchedule } from './jobs/purger.js';
import { DateTimeScalar } from './graphql/date-time.scalar.js';
import { JsonScalar } from './graphql/json.scalar.js';
import { SearchesByClient } from './jobs/search-queue.js';
import { RouteConfigCheck } from './http/route-config.js';

/** The parts of the platform whose exports every module may inject. */
const PARTS = [DatabaseModule, AccessModule, ChangesModule, IdempotencyModule, MetricsModule];

/** What serves every module. It is global, and so are the exports of its parts. */
@Global()
@Module({
  imports: [ConfigModule, DiscoveryModule, ...PARTS, GraphqlModule, EncryptionModule, ReferenceModule],
  providers: [
    BackgroundTasks,
    Clock,
    DateTimeScalar,
    Drain,
    JsonScalar,
    Purger,
    PurgeSchedule,
    Readiness,
    RouteConfigCheck,
    SearchesByClient,
    {
      provide: SecurityEvents,
      inject: [Config, Registry],
      useFactory: (config: Config, registry: Registry) =>
        new SecurityEvents(config, () => currentContext()?.client, registry),
    },
  ],
  exports: [...PARTS, BackgroundTasks, Clock, Drain, Purger, Readiness, SecurityEvents],
})
export class PlatformModule {}
