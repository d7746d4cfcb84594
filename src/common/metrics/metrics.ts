export type Labels = Readonly<Record<string, string>>;

/** What a gauge is at this moment: one value, or one for each set of labels. */
export type Reading = number | readonly (readonly [labels: Labels, value: number])[];

export interface Counter {
  add(labels?: Labels): void;
}

export interface Histogram {
  /** @param seconds of what was measured */
  observe(seconds: number, labels?: Labels): void;
}

export interface MetricsReport {
  readonly contentType: string;
  readonly text: string;
}

/**
 * What modules measure, for Prometheus. A name ends with its unit (`_seconds`, `_bytes`), that of a counter with
 * `_total`. The values of a label are few and known beforehand: each makes a time series, in every process.
 */
export abstract class Metrics {
  /** Whether anyone asks for them. What costs something to measure is left out otherwise. */
  abstract readonly enabled: boolean;

  /** @param read called when Prometheus asks; where it throws, the metric is missing from that response */
  abstract gauge(
    name: string,
    help: string,
    read: () => Reading | Promise<Reading>,
    labels?: readonly string[],
  ): void;

  abstract counter(name: string, help: string, labels?: readonly string[]): Counter;

  abstract histogram(name: string, help: string, labels?: readonly string[]): Histogram;

  /** All of them, in the text format of Prometheus. */
  abstract report(): Promise<MetricsReport>;
}

/** Without `METRICS_PORT`: nothing is registered, counted or kept. */
export const NO_METRICS: Metrics = {
  enabled: false,
  gauge: () => undefined,
  counter: () => ({ add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
  report: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
};
