import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  type Counter as CounterFace,
  type Histogram as HistogramFace,
  type Labels,
  Metrics,
  type MetricsReport,
  type Reading,
} from '../common/ports/metrics.js';

/** In seconds: from a read of SQLite to the longest time that clients wait. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Gauges of the library whose names end like those of counters, which `promtool check metrics` rejects. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Metrics in a registry of this application, with those of the process: memory, garbage collection, event loop. */
export class PrometheusMetrics extends Metrics {
  readonly enabled = true;
  private readonly registry = new Registry();

  constructor() {
    super();
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
  }

  gauge(
    name: string,
    help: string,
    read: () => Reading | Promise<Reading>,
    labels: readonly string[] = [],
  ): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [this.registry],
      collect: async () => {
        // A value that cannot be read must be absent, not the previous one.
        if (labels.length > 0) gauge.reset();
        else gauge.remove();
        const reading = await readSafely(read);
        if (typeof reading === 'number') gauge.set(reading);
        else for (const [values, value] of reading) gauge.set({ ...values }, value);
      },
    });
  }

  counter(name: string, help: string, labels: readonly string[] = []): CounterFace {
    const counter = new Counter({ name, help, labelNames: [...labels], registers: [this.registry] });
    return { add: (values: Labels = {}) => counter.inc({ ...values }) };
  }

  histogram(name: string, help: string, labels: readonly string[] = []): HistogramFace {
    const histogram = new Histogram({
      name,
      help,
      labelNames: [...labels],
      buckets: BUCKETS,
      registers: [this.registry],
    });
    return { observe: (seconds: number, values: Labels = {}) => histogram.observe({ ...values }, seconds) };
  }

  async report(): Promise<MetricsReport> {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }
}

/** Nothing, for example while the database is unavailable. */
async function readSafely(read: () => Reading | Promise<Reading>): Promise<Reading> {
  try {
    return await read();
  } catch {
    return [];
  }
}
