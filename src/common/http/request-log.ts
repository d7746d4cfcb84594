import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { runWithRequestId } from '../logging/request-context.js';

/**
 * One line for each request: which route, what came of it, how long it took. The route's pattern and not
 * its address, and no header or body, so that no line can hold a secret.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    // The one event that comes in any case: when all is sent, and when the client has gone before that.
    reply.raw.on('close', () => {
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
    });
    runWithRequestId(request.id, done);
  });
}
