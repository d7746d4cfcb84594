import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../jobs/clock.js';
import { ageOf, readOrRemove } from '../operations/metrics.js';
import type { Database } from '../database/database.js';
import type { EventAppender } from './event-appender.js';
import type { Subscribers } from './subscribers/subscribers.js';

interface Services {
  readonly registry: Registry;
  readonly database: Database;
  readonly clock: Clock;
  readonly appender: EventAppender;
  readonly subscribers: Subscribers;
}

/** The time of a subscriber's first unhandled event of each type, if there is one, in columns of any name. */
type FirstUnhandled = Readonly<Record<string, string | null>>;

/** Measures how late the log and its subscribers are. Names of subscribers are defined in code, so they are few. */
export function measureLog(services: Services): void {
  measureNumbering(services);
  measureSubscribers(services);
}

function measureNumbering({ registry, database, clock, appender }: Services): void {
  new Gauge({
    name: 'event_log_unnumbered_age_seconds',
    help: 'How long the oldest event has waited for its position, 0 where there is none',
    registers: [registry],
    collect() {
      return readOrRemove(this, async () => {
        const [oldest] = await database.monitor<{ time: string }>(appender.oldestUnnumbered);
        this.set(ageOf(oldest?.time, clock));
      });
    },
  });
}

function measureSubscribers({ registry, database, clock, subscribers }: Services): void {
  new Gauge({
    name: 'event_subscriber_lag_seconds',
    help: 'How long the first event that a subscriber has not handled has waited, 0 where there is none',
    labelNames: ['subscriber'],
    registers: [registry],
    collect() {
      return readOrRemove(this, async () => {
        for (const [subscriber, { filter }] of subscribers.subscriptions) {
          const [times = {}] = await database.monitor<FirstUnhandled>(
            firstUnhandled(subscriber, filter.types),
          );
          const ages = Object.values(times).map((time) => ageOf(time, clock));
          this.set({ subscriber }, Math.max(0, ...ages));
        }
      });
    },
  });
  new Gauge({
    name: 'event_subscriber_failed_attempts',
    help: 'How often in a row the next event of a subscriber has failed',
    labelNames: ['subscriber'],
    registers: [registry],
    collect() {
      return readOrRemove(this, async () => {
        const rows = await database.monitor<{ name: string; attempts: number }>(
          'SELECT name, attempts FROM event_subscribers',
        );
        for (const { name, attempts } of rows) {
          if (subscribers.subscriptions.has(name)) this.set({ subscriber: name }, attempts);
        }
      });
    },
  });
}

/** Each type has its own range in the index: other events, of which there may be many, are not read. */
function firstUnhandled(subscriber: string, types: readonly string[] | undefined): string {
  const first = (condition: string) =>
    `(SELECT time FROM events WHERE ${condition} position > event_subscribers.position ORDER BY position LIMIT 1)`;
  const columns =
    types === undefined ? [first('')] : types.map((type) => first(`type = ${quoted(type)} AND`));
  const named = ['NULL', ...columns].map((column, n) => `${column} AS time${n}`);
  return `SELECT ${named.join(', ')} FROM event_subscribers WHERE name = ${quoted(subscriber)}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
