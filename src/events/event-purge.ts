import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock/clock.js';
import { Purger } from '../common/purge/purger.js';
import { Config } from '../config/config.js';
import { EventStore } from './event-store.js';

const DAY = 24 * 3600_000;

/** Has events deleted that are older than the retention, from the start of the log. */
@Injectable()
export class EventPurge {
  constructor(purger: Purger, store: EventStore, clock: Clock, { eventsRetentionDays }: Config) {
    purger.registerTask('events', () =>
      store.purgeBatch(new Date(clock.now().getTime() - eventsRetentionDays * DAY)),
    );
  }
}
