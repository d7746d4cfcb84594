import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/**
 * One line for each request: which route, what came of it, how long it took. The route's pattern and not
 * its address, and no header or body, so that no line can hold a secret.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  const log = (
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: { status: number } | { aborted: true },
  ) =>
    logger.info({
      requestId: request.id,
      clientRequestId: request.headers['x-request-id']?.slice(0, 200),
      method: request.method,
      route: request.is404 ? undefined : request.routeOptions.url,
      ...outcome,
      milliseconds: Math.round(reply.elapsedTime * 100) / 100,
    });

  fastify.addHook('onRequest', (request, reply, done) => {
    // Emitted without 'finish' when the client has gone before its answer.
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) log(request, reply, { aborted: true });
    });
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    log(request, reply, { status: reply.statusCode });
    done();
  });
}
