export type Labels = Readonly<Record<string, string>>;

/** The current value of a gauge: a number, or one for each set of labels. */
export type Reading = number | readonly (readonly [labels: Labels, value: number])[];

export interface Counter {
  add(labels?: Labels): void;
}

export interface Histogram {
  /** @param seconds the measured duration */
  observe(seconds: number, labels?: Labels): void;
}

export interface MetricsReport {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Metrics for Prometheus. A name ends with its unit (`_seconds`, `_bytes`), that of a counter with
 * `_total`. A label has few values, known beforehand: each is a time series in every process.
 */
export abstract class Metrics {
  /** Whether metrics are exported. Code with a cost per measurement checks it first. */
  abstract readonly enabled: boolean;

  /** @param read called at each scrape; if it throws, the metric is missing from that scrape */
  abstract gauge(
    name: string,
    help: string,
    read: () => Reading | Promise<Reading>,
    labels?: readonly string[],
  ): void;

  abstract counter(name: string, help: string, labels?: readonly string[]): Counter;

  abstract histogram(name: string, help: string, labels?: readonly string[]): Histogram;

  /** All metrics in the text format of Prometheus. */
  abstract report(): Promise<MetricsReport>;
}

/** Without `METRICS_PORT`: nothing is registered or counted. */
export const NO_METRICS: Metrics = {
  enabled: false,
  gauge: () => undefined,
  counter: () => ({ add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
  report: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
};
