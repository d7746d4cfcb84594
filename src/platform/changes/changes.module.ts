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
import { UnrecordedChanges } from './unrecorded-changes.js';

export const eventAppender = (queries: Queries, transactions: Transactions): EventAppender =>
  new { sqlite: SqliteEventAppender, postgres: PostgresEventAppender }[queries.dialect.name](
    queries,
    transactions,
  );

@Module({})
class FeatureEventsModule {}

/** Changes and the log of their events, with its subscribers. Features register their events here. */
@Module({
  imports: [
    TypeOrmModule.forFeature([AuditEntry]),
    DiscoveryModule,
    EventEmitterModule.forRoot({ wildcard: true }),
  ],
  providers: [
    Changes,
    CommittedEvents,
    { provide: EventAppender, inject: [Queries, Transactions], useFactory: eventAppender },
    EventLog,
    EventPurge,
    EventStore,
    EventTypes,
    InProcessEvents,
    SubscriberPositions,
    Subscribers,
    UnrecordedChanges,
  ],
  exports: [Changes, EventAppender, EventLog, EventPurge, EventStore, EventTypes, Subscribers],
})
export class ChangesModule {
  constructor(
    registry: Registry,
    database: Database,
    clock: Clock,
    appender: EventAppender,
    subscribers: Subscribers,
  ) {
    measureLog({ registry, database, clock, appender, subscribers });
  }

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
