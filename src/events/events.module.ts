import { Module } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { CONNECTION_LIMITS } from '../platform/http/edge/connection-limit.js';
import { ConsumerLimits, EventStreams } from './event-streams.js';
import { EventFeed } from './event-feed.js';
import { EventQuery } from './event-query.js';
import { EventsController } from './events.controller.js';
import { EventsResolver } from './graphql/events.resolver.js';

/** What others see of events: the feed, the stream, and subscriptions. */
@Module({
  controllers: [EventsController],
  providers: [ConsumerLimits, EventFeed, EventQuery, EventStreams, EventsResolver],
})
export class EventsModule {
  constructor(registry: Registry, limits: ConsumerLimits, streams: EventStreams) {
    const registers = [registry];
    new Gauge({
      name: 'event_consumers',
      help: 'Open streams of events, and subscriptions over GraphQL',
      labelNames: ['kind'],
      registers,
      collect() {
        this.set({ kind: 'stream' }, streams.size);
        this.set({ kind: 'subscription' }, limits.size - streams.size);
      },
    });
    new Gauge({
      name: 'event_consumers_max',
      help: 'How many of both there may be',
      registers,
    }).set(CONNECTION_LIMITS.process);
  }
}
