import { Module } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { CONNECTION_LIMITS } from '../platform/http/edge/connection-limit.js';
import { ConsumerLimits, EventStreams } from './event-streams.js';
import { EventFeed } from './event-feed.js';
import { EventQuery } from './event-query.js';
import { EventsController } from './events.controller.js';

/** What others see of events: the feed and the stream. */
@Module({
  controllers: [EventsController],
  providers: [ConsumerLimits, EventFeed, EventQuery, EventStreams],
})
export class EventsModule {
  constructor(registry: Registry, streams: EventStreams) {
    const registers = [registry];
    new Gauge({
      name: 'event_consumers',
      help: 'Open streams of events',
      registers,
      collect() {
        this.set(streams.size);
      },
    });
    new Gauge({
      name: 'event_consumers_max',
      help: 'How many there may be',
      registers,
    }).set(CONNECTION_LIMITS.process);
  }
}
