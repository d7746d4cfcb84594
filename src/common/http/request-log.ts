import { context } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { isTracing } from '../tracing/spans.js';
import { runWithRequestId } from '../logging/request-context.js';
import { onResponseEnd } from './response-end.js';

/**
 * Logs one line for each request: its route, status and duration. It has the pattern of the route instead of
 * the address, and no header or body, so that no line contains a secret.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const log = () => {
      const isSent = reply.raw.writableFinished;
      logger.info({
        requestId: request.id,
        clientRequestId: request.headers['x-request-id']?.slice(0, 200),
        method: request.method,
        route: request.routeOptions.url,
        status: isSent ? reply.statusCode : undefined,
        aborted: isSent ? undefined : true,
        milliseconds: Math.round(reply.elapsedTime * 100) / 100,
      });
    };
    onResponseEnd(request, reply, isTracing() ? context.bind(context.active(), log) : log);
    runWithRequestId(request.id, done);
  });
}
