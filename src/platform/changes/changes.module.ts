import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Registry } from 'prom-client';
import { Database } from '../database/database.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { Clock } from '../jobs/clock.js';
import { AuditEntry } from './audit-entry.entity.js';
import { Changes } from './changes.js';
import { CommittedEvents, InProcessEvents } from './committed-events.js';
import { type EventsOf, EventTypes } from './define-events.js';
import { EventAppender } from './event-appender.js';
import { PostgresEventAppender } from './event-appender.postgres.js';
import { SqliteEventAppender } from './event-appender.sqlite.js';
import { EventLog } from './event-log.js';
import { EventPurge } from './event-purge.js';
import { EventStore } from './event-store.js';
import { measureLog } from './measure-log.js';
import { SubscriberPositions } from './subscribers/subscriber-positions.js';
import { Subscribers } from './subscribers/subscribers.js';

/** The appender of the current database. */
export const eventAppender = (queries: Queries, transactions: Transactions): EventAppender =>
  new { sqlite: SqliteEventAppender, postgres: PostgresEventAppender }[queries.dialect.name](
    queries,
    transactions,
  );

@Module({})
class FeatureEventsModule {}

/** How changes are recorded, and events read. Nothing in it delivers, so commands may use it. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntry])],
  providers: [
    Changes,
    CommittedEvents,
    { provide: EventAppender, inject: [Queries, Transactions], useFactory: eventAppender },
    EventStore,
    EventTypes,
  ],
  exports: [Changes, CommittedEvents, EventAppender, EventStore, EventTypes],
})
class EventRecordsModule {}

/** The log of events in the database, and its subscribers. Features register their events here. */
@Module({
  imports: [EventRecordsModule, DiscoveryModule, EventEmitterModule.forRoot({ wildcard: true })],
  providers: [EventLog, EventPurge, InProcessEvents, SubscriberPositions, Subscribers],
  exports: [EventRecordsModule, EventLog, EventPurge, Subscribers],
})
export class ChangesModule {
  constructor(
    registry: Registry,
    database: Database,
    clock: Clock,
    appender: EventAppender,
    subscribers: Subscribers,
    log: EventLog,
  ) {
    measureLog({ registry, database, clock, appender, subscribers, log });
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
