import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { EventAppender, EventLog, Subscribers } from '../platform/changes/index.js';
import { Database } from '../platform/database/database.js';
import { Clock } from '../platform/jobs/clock.js';
import { ConsumerLimits } from './consumer-limits.js';
import { EventFeed } from './event-feed.js';
import { EventQuery } from './event-query.js';
import { EventStreams } from './event-streams.js';
import { EventsController } from './events.controller.js';
import { EventsResolver } from './graphql/events.resolver.js';
import { measureEvents } from './measure-events.js';

/** What others see of events: the feed, the stream, and subscriptions. */
@Module({
  controllers: [EventsController],
  providers: [ConsumerLimits, EventFeed, EventQuery, EventStreams, EventsResolver],
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
}
