import type { Database } from '../../database/database.js';
import type { Clock } from './clock.js';
import type { Metrics } from './metrics.js';

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
  { database, metrics, clock }: { database: Database; metrics: Metrics; clock: Clock },
  { count, age, what, rows }: Queue,
): void {
  const read = async (sql: string): Promise<string | number | null> =>
    (await database.monitor<{ value: string | number | null }>(sql))[0]!.value;
  metrics.gauge(count, `${what}, counted up to ${COUNTED}`, async () =>
    Number(
      await read(`SELECT count(*) AS value FROM (SELECT 1 AS one FROM ${rows} LIMIT ${COUNTED}) AS waiting`),
    ),
  );
  metrics.gauge(age, `${what}: how long the oldest has waited, 0 where there is none`, async () =>
    ageOf(await read(`SELECT min(created_at) AS value FROM ${rows}`), clock),
  );
}

/** In seconds; 0 without a time. @param time as `Database.monitor` returns it */
export const ageOf = (time: string | number | null | undefined, clock: Clock): number =>
  time == null ? 0 : Math.max(0, (clock.now().getTime() - Date.parse(String(time))) / 1000);
