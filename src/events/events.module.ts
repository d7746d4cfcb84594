import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Registry } from 'prom-client';
import { Clock } from '../platform/jobs/clock.js';
import { Database } from '../platform/database/database.js';
import { Queries } from '../platform/database/queries.js';
import { Transactions } from '../platform/database/transactions.js';
import { CommittedEvents, InProcessEvents } from '../platform/changes/committed-events.js';
import { ConsumerLimits } from './consumer-limits.js';
import type { EventsOf } from '../platform/changes/define-events.js';
import { EventFeed } from './event-feed.js';
import { EventLog } from '../platform/changes/event-log.js';
import { EventAppender } from '../platform/changes/event-appender.js';
import { PostgresEventAppender } from '../platform/changes/event-appender.postgres.js';
import { SqliteEventAppender } from '../platform/changes/event-appender.sqlite.js';
import { EventOutbox } from '../platform/changes/event-outbox.js';
import { EventPurge } from '../platform/changes/event-purge.js';
import { EventQuery } from './event-query.js';
import { EventStore } from '../platform/changes/event-store.js';
import { EventStreams } from './event-streams.js';
import { EventTypes } from '../platform/changes/event-types.js';
import { EventsController } from './events.controller.js';
import { Subscribers } from '../platform/changes/subscribers/subscribers.js';
import { SubscriberPositions } from '../platform/changes/subscribers/subscriber-positions.js';
import { EventsResolver } from './graphql/events.resolver.js';
import { measureEvents } from './measure-events.js';

/** The appender of the current database. */
export const eventAppender = (queries: Queries, transactions: Transactions): EventAppender =>
  new { sqlite: SqliteEventAppender, postgres: PostgresEventAppender }[queries.dialect.name](
    queries,
    transactions,
  );

@Module({})
class FeatureEventsModule {}

/** How events are recorded and read. Nothing in it serves or delivers, so commands may use it. */
@Module({
  providers: [
    CommittedEvents,
    { provide: EventAppender, inject: [Queries, Transactions], useFactory: eventAppender },
    EventOutbox,
    EventStore,
    EventTypes,
  ],
  exports: [CommittedEvents, EventAppender, EventOutbox, EventStore, EventTypes],
})
export class EventRecordsModule {}

/** The log of events in the database. It depends on no feature; features record their events here. */
@Global()
@Module({
  imports: [EventRecordsModule, DiscoveryModule, EventEmitterModule.forRoot({ wildcard: true })],
  controllers: [EventsController],
  providers: [
    ConsumerLimits,
    EventFeed,
    EventLog,
    EventPurge,
    EventQuery,
    EventStreams,
    EventsResolver,
    InProcessEvents,
    SubscriberPositions,
    Subscribers,
  ],
  exports: [EventRecordsModule, EventLog, EventPurge, Subscribers],
})
export class EventsModule {
  constructor(
    registry: Registry,
    database: Database,
    clock: Clock,
    limits: ConsumerLimits,
    streams: EventStreams,
    log: EventLog,
    appender: EventAppender,
    subscribers: Subscribers,
  ) {
    measureEvents({ registry, database, clock, limits, streams, log, appender, subscribers });
  }

  /** Registers the events of a module. */
  static forFeature(...definitions: readonly EventsOf[]): DynamicModule {
    return {
      module: FeatureEventsModule,
      providers: definitions.map((definition) => ({
        provide: `events of ${definition.types.join(', ')}`,
        inject: [EventTypes],
        useFactory: (types: EventTypes) => types.register(definition) ?? definition,
      })),
    };
  }
}
