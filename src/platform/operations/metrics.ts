import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../database/database.js';
import type { Clock } from '../jobs/clock.js';

/** Counting all rows of a long queue would exceed Prometheus's timeout. */
const COUNTED = 10_000;

/** A queue in the database, whose rows have a `created_at` with an index. */
interface Queue {
  /** The names of the two metrics. */
  readonly count: string;
  readonly age: string;
  /** The rows, for the descriptions of the metrics. */
  readonly what: string;
  /** A table, and a condition if not all of its rows wait: never text from outside. */
  readonly rows: string;
}

/** Registers the number of waiting rows of a queue, up to 10,000, and the age of the oldest. */
export function measureQueue(
  { database, registry, clock }: { database: Database; registry: Registry; clock: Clock },
  { count, age, what, rows }: Queue,
): void {
  const read = async (sql: string): Promise<string | number | null> =>
    (await database.monitor<{ value: string | number | null }>(sql))[0]!.value;
  const counted = `SELECT 1 AS one FROM ${rows} LIMIT ${COUNTED}`;
  new Gauge({
    name: count,
    help: `${what}, counted up to ${COUNTED}`,
    registers: [registry],
    collect() {
      return readOrRemove(this, async () =>
        this.set(Number(await read(`SELECT count(*) AS value FROM (${counted}) AS waiting`))),
      );
    },
  });
  new Gauge({
    name: age,
    help: `${what}: how long the oldest has waited, 0 where there is none`,
    registers: [registry],
    collect() {
      return readOrRemove(this, async () =>
        this.set(ageOf(await read(`SELECT min(created_at) AS value FROM ${rows}`), clock)),
      );
    },
  });
}

/** In seconds; 0 without a time. @param time as `Database.monitor` returns it */
export const ageOf = (time: string | number | null | undefined, clock: Clock): number =>
  time == null ? 0 : Math.max(0, (clock.now().getTime() - Date.parse(String(time))) / 1000);

/** The buckets of durations, in seconds: from a read of SQLite to the longest time that clients wait. */
export const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Reads a gauge in its `collect()`. A value that cannot be read is absent from the scrape: the previous one would be
 * wrong, and an error would fail the whole scrape.
 *
 * @param read sets the gauge
 */
export async function readOrRemove(gauge: Gauge, read: () => Promise<void>): Promise<void> {
  gauge.reset();
  // Without labels, `reset` sets 0.
  gauge.remove({});
  await read().catch(() => undefined);
}
