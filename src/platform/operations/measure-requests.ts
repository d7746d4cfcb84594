import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { onResponseEnd } from '../http/response-end.js';
import { BUCKETS } from './metrics.js';

/** Other methods are `_OTHER`, as in OpenTelemetry: clients could invent any number of names. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts and times requests, with names and labels of OpenTelemetry's HTTP conventions. The route is its pattern, and
 * empty without one; a request whose client has disconnected has the status `aborted`. If metrics are off, it does nothing.
 */
export const requestMetrics = fastifyPlugin<{ registry: Registry; isOn: boolean }>(
  (fastify, { registry, isOn }, done) => {
    if (isOn) measureRequests(fastify, registry);
    done();
  },
  { name: 'metrics', dependencies: ['hardening'] },
);

function measureRequests(fastify: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const active = new Gauge({
    name: 'http_server_active_requests',
    help: 'Requests that are being handled',
    registers: [registry],
  });

  fastify.addHook('onRequest', (request, reply, done) => {
    active.inc();
    // Fastify's `elapsedTime` is 0 on routes without an `onResponse` hook.
    const start = performance.now();
    onResponseEnd(request, reply, () => {
      active.dec();
      const labels = {
        http_request_method: METHODS.has(request.method) ? request.method : '_OTHER',
        http_route: request.routeOptions.url ?? '',
        http_response_status_code: reply.raw.writableFinished ? String(reply.statusCode) : 'aborted',
      };
      durations.observe(labels, (performance.now() - start) / 1000);
    });
    done();
  });
}
