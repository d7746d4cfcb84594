import { context } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { isTracing } from '../tracing/spans.js';
import { runWithRequestId } from '../logging/request-context.js';

/**
 * Logs one line for each request: its route, status and duration. It has the pattern of the route instead of
 * the address, and no header or body, so that no line contains a secret.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    // 'close' is the only event of every request: it also comes when the client has disconnected before the response.
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
    reply.raw.on('close', isTracing() ? context.bind(context.active(), log) : log);
    runWithRequestId(request.id, done);
  });
}
