import { Global, Module } from '@nestjs/common';
import { Metrics, NO_METRICS } from '../common/ports/metrics.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { HealthModule } from '../health/health.module.js';
import { Readiness } from '../health/readiness.service.js';
import { measureDatabase } from './measure-database.js';
import { MetricsServer } from './metrics-server.js';

/** Metrics for Prometheus, if `METRICS_PORT` is set. Other modules register theirs with `Metrics`. */
@Global()
@Module({
  imports: [HealthModule],
  providers: [MetricsServer, { provide: Metrics, inject: [Config], useFactory: createMetrics }],
  exports: [Metrics],
})
export class MetricsModule {
  constructor(metrics: Metrics, database: Database, readiness: Readiness) {
    if (!metrics.enabled) return;
    measureDatabase(database, metrics);
    metrics.gauge('service_ready', '1 where /health/ready responds with 200, else 0', async () =>
      (await readiness.missing()).length === 0 ? 1 : 0,
    );
  }
}

/** The library is loaded only if metrics are enabled. */
async function createMetrics({ metricsPort }: Config): Promise<Metrics> {
  if (metricsPort === undefined) return NO_METRICS;
  const { PrometheusMetrics } = await import('./prometheus-metrics.js');
  return new PrometheusMetrics();
}
