import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Clock } from './clock/clock.js';
import { Upgrades } from './http/upgrades.js';
import { Metrics, NO_METRICS } from './metrics/metrics.js';
import { Purger } from './purge/purger.js';
import { RateLimiter } from './rate-limit/rate-limiter.js';

/** Providers for every module. */
@Global()
@Module({
  providers: [
    Clock,
    Purger,
    RateLimiter,
    Upgrades,
    { provide: Metrics, inject: [Config], useFactory: createMetrics },
  ],
  exports: [Clock, Purger, Metrics, RateLimiter, Upgrades],
})
export class CommonModule {}

/** The library is loaded only if metrics are enabled. */
async function createMetrics({ metricsPort }: Config): Promise<Metrics> {
  if (metricsPort === undefined) return NO_METRICS;
  const { PrometheusMetrics } = await import('./metrics/prometheus-metrics.js');
  return new PrometheusMetrics();
}
