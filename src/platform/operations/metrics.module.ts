import { Module } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Readiness } from './readiness.service.js';
import { measureDatabase } from './measure-database.js';
import { MetricsServer } from './metrics-server.js';

/** Gauges of the library whose names end like those of counters, which `promtool check metrics` rejects. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Metrics for Prometheus, if `METRICS_PORT` is set. Each part registers its own with the `Registry` of prom-client. */
@Module({ providers: [MetricsServer, Registry], exports: [Registry] })
export class MetricsModule {
  constructor(registry: Registry, database: Database, readiness: Readiness, { metricsPort }: Config) {
    // What takes time although nobody scrapes it.
    if (metricsPort === undefined) return;
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
    measureDatabase(database, registry);
    new Gauge({
      name: 'service_ready',
      help: '1 where /health/ready responds with 200, else 0',
      registers: [registry],
      async collect() {
        this.set((await readiness.failures()).length === 0 ? 1 : 0);
      },
    });
  }
}
