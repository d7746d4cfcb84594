import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Metrics } from '../common/metrics/metrics.js';
import { Database } from '../database/database.js';
import { HealthModule } from '../health/health.module.js';
import { Readiness } from '../health/readiness.service.js';
import { measureDatabase } from './measure-database.js';
import { measureRequests } from './measure-requests.js';
import { MetricsServer } from './metrics-server.js';

/** Metrics for Prometheus, if `METRICS_PORT` is set. Other modules register theirs with `Metrics`. */
@Module({ imports: [HealthModule], providers: [MetricsServer] })
export class MetricsModule {
  constructor(metrics: Metrics, { httpAdapter }: HttpAdapterHost, database: Database, readiness: Readiness) {
    if (!metrics.enabled) return;
    measureDatabase(database, metrics);
    metrics.gauge('service_ready', '1 where /health/ready responds with 200, else 0', async () =>
      (await readiness.missing()).length === 0 ? 1 : 0,
    );
    // An application context has no HTTP server.
    const fastify = httpAdapter?.getInstance<FastifyInstance>();
    if (fastify) measureRequests(fastify, metrics);
  }
}
