import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { onResponseEnd } from '../common/http/response-end.js';
import type { Metrics } from '../common/ports/metrics.js';

/** Other methods are `_OTHER`, as in OpenTelemetry: clients could invent any number of names. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts and times requests, with names and labels of OpenTelemetry's HTTP conventions. The route is its pattern, and
 * empty without one; a request whose client has disconnected has the status `aborted`. Without metrics, it does nothing.
 */
export const requestMetrics = fastifyPlugin<{ metrics: Metrics }>(
  (fastify, { metrics }, done) => {
    if (metrics.enabled) measureRequests(fastify, metrics);
    done();
  },
  { name: 'metrics', dependencies: ['hardening'] },
);

function measureRequests(fastify: FastifyInstance, metrics: Metrics): void {
  const durations = metrics.histogram(
    'http_server_request_duration_seconds',
    'Time from the head of a request to the end of its response',
    ['http_request_method', 'http_route', 'http_response_status_code'],
  );
  let active = 0;
  metrics.gauge('http_server_active_requests', 'Requests that are being handled', () => active);

  fastify.addHook('onRequest', (request, reply, done) => {
    active++;
    // Fastify's `elapsedTime` is 0 on routes without an `onResponse` hook.
    const start = performance.now();
    onResponseEnd(request, reply, () => {
      active--;
      durations.observe((performance.now() - start) / 1000, {
        http_request_method: METHODS.has(request.method) ? request.method : '_OTHER',
        http_route: request.routeOptions.url ?? '',
        http_response_status_code: reply.raw.writableFinished ? String(reply.statusCode) : 'aborted',
      });
    });
    done();
  });
}
