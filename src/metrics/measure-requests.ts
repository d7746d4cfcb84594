import type { FastifyInstance } from 'fastify';
import { onResponseEnd } from '../common/http/response-end.js';
import type { Metrics } from '../common/metrics/metrics.js';

/** Other methods are `_OTHER`, as in OpenTelemetry: clients could invent any number of names. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts and times requests, with names and labels of OpenTelemetry's HTTP conventions. The route is its pattern, and
 * empty without one; a request whose client has disconnected has the status `aborted`.
 */
export function measureRequests(fastify: FastifyInstance, metrics: Metrics): void {
  const durations = metrics.histogram(
    'http_server_request_duration_seconds',
    'Time from the head of a request to the end of its response',
    ['http_request_method', 'http_route', 'http_response_status_code'],
  );
  let active = 0;
  metrics.gauge('http_server_active_requests', 'Requests that are being handled', () => active);

  fastify.addHook('onRequest', (request, reply, done) => {
    active++;
    onResponseEnd(request, reply, () => {
      active--;
      durations.observe(reply.elapsedTime / 1000, {
        http_request_method: METHODS.has(request.method) ? request.method : '_OTHER',
        http_route: request.routeOptions.url ?? '',
        http_response_status_code: reply.raw.writableFinished ? String(reply.statusCode) : 'aborted',
      });
    });
    done();
  });
}
