import type { Gauge } from 'prom-client';

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
