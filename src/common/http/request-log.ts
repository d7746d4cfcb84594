import { context } from '@opentelemetry/api';
import fastifyPlugin from 'fastify-plugin';
import type { Logger } from 'pino';
import { isTracing } from '../ports/spans.js';
import { runWithRequestId } from './request-context.js';
import { onResponseEnd } from './response-end.js';

/**
 * Logs one line for each request: its route, status and duration. It has the pattern of the route instead of
 * the address, and no header or body, so that no line contains a secret.
 */
export const requestLog = fastifyPlugin<{ logger: Logger }>(
  (fastify, { logger }, done) => {
    fastify.addHook('onRequest', (request, reply, next) => {
      // Fastify's `elapsedTime` is 0 on routes without an `onResponse` hook.
      const start = performance.now();
      const log = () => {
        const isSent = reply.raw.writableFinished;
        logger.info({
          requestId: request.id,
          clientRequestId: request.headers['x-request-id']?.slice(0, 200),
          method: request.method,
          route: request.routeOptions.url,
          status: isSent ? reply.statusCode : undefined,
          aborted: isSent ? undefined : true,
          milliseconds: Math.round((performance.now() - start) * 100) / 100,
        });
      };
      onResponseEnd(request, reply, isTracing() ? context.bind(context.active(), log) : log);
      runWithRequestId(request.id, next);
    });
    done();
  },
  // The lines have the ids of the trace.
  { name: 'log', dependencies: ['tracing'] },
);
