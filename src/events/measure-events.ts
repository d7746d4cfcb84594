import type { Clock } from '../common/ports/clock.js';
import { ageOf } from '../common/ports/measure-queue.js';
import { CONNECTION_LIMITS } from '../common/server/connection-limit.js';
import type { Labels, Metrics } from '../common/ports/metrics.js';
import type { Database } from '../database/database.js';
import type { ConsumerLimits } from './consumer-limits.js';
import type { EventAppender } from './event-appender.js';
import type { EventLog } from './event-log.js';
import type { EventStreams } from './event-streams.js';
import type { Subscribers } from './subscribers/subscribers.js';

interface Services {
  readonly metrics: Metrics;
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: ConsumerLimits;
  readonly streams: EventStreams;
  readonly log: EventLog;
  readonly appender: EventAppender;
  readonly subscribers: Subscribers;
}

/** The time of a subscriber's first unhandled event, if there is one, in columns of any name. */
type Waiting = Readonly<Record<string, string | null>>;

/** Measures consumers of the log and their lag. Names of subscribers are defined in code, so they are few. */
export function measureEvents(services: Services): void {
  const { metrics, limits, streams, log } = services;
  metrics.gauge(
    'event_consumers',
    'Open streams of events, and subscriptions over GraphQL',
    () => [
      [{ kind: 'stream' }, streams.size],
      [{ kind: 'subscription' }, limits.size - streams.size],
    ],
    ['kind'],
  );
  metrics.gauge('event_consumers_max', 'How many of both there may be', () => CONNECTION_LIMITS.process);
  metrics.gauge(
    'event_listener_connected',
    '1 while signals of other replicas arrive; absent on SQLite and behind a pooler, where none do',
    () => (log.listens === undefined ? [] : Number(log.listens)),
  );
  measureLog(services);
  measureSubscribers(services);
}

function measureLog({ metrics, database, clock, appender }: Services): void {
  metrics.gauge(
    'event_log_unnumbered_age_seconds',
    'How long the oldest event has waited for its position, 0 where there is none',
    async () => {
      const [oldest] = await database.monitor<{ time: string }>(appender.oldestUnnumbered);
      return ageOf(oldest?.time, clock);
    },
  );
}

function measureSubscribers({ metrics, database, clock, subscribers }: Services): void {
  const label = ['subscriber'];
  metrics.gauge(
    'event_subscriber_lag_seconds',
    'How long the first event that a subscriber has not handled has waited, 0 where there is none',
    async () => {
      const lags: [Labels, number][] = [];
      for (const [subscriber, { types }] of subscribers.filters) {
        const [waiting = {}] = await database.monitor<Waiting>(firstUnhandled(subscriber, types));
        const ages = Object.values(waiting).map((time) => ageOf(time, clock));
        lags.push([{ subscriber }, Math.max(0, ...ages)]);
      }
      return lags;
    },
    label,
  );
  metrics.gauge(
    'event_subscriber_failed_attempts',
    'How often in a row the next event of a subscriber has failed',
    async () => {
      const rows = await database.monitor<{ name: string; attempts: number }>(
        'SELECT name, attempts FROM event_subscribers',
      );
      return rows
        .filter(({ name }) => subscribers.filters.has(name))
        .map(({ name, attempts }) => [{ subscriber: name }, attempts] as const);
    },
    label,
  );
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
