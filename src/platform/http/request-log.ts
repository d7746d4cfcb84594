import fastifyPlugin from 'fastify-plugin';
import type { Logger } from 'pino';
import { RequestContext, runInContext } from './request-context.js';
import { onResponseEnd } from './response-end.js';

/**
 * Logs one line for each request: its route, path, status and duration, the client and the account. It has no query,
 * header or body, so that no line contains a secret.
 */
export const requestLog = fastifyPlugin<{ logger: Logger }>(
  (fastify, { logger }, done) => {
    fastify.decorateRequest('context');
    fastify.addHook('onRequest', (request, reply, next) => {
      request.context = new RequestContext(request);
      // Fastify's `elapsedTime` is 0 on routes without an `onResponse` hook.
      const start = performance.now();
      // A closed connection has no address any more.
      const { address } = request.context.client;
      onResponseEnd(request, reply, () => {
        const isSent = reply.raw.writableFinished;
        logger.info({
          requestId: request.id,
          clientRequestId: request.headers['x-request-id']?.slice(0, 200),
          method: request.method,
          route: request.routeOptions.url,
          path: pathOf(request.url),
          status: isSent ? reply.statusCode : undefined,
          aborted: isSent ? undefined : true,
          milliseconds: Math.round((performance.now() - start) * 100) / 100,
          address,
          accountId: request.user?.id,
        });
      });
      runInContext(request.context, next);
    });
    done();
  },
  { name: 'log', dependencies: ['metrics'] },
);

/** Long paths of unknown addresses would fill the log. */
const PATH_LENGTH = 500;

/** The path of a request, for the log. */
const pathOf = (url: string): string => url.slice(0, PATH_LENGTH).split('?', 1)[0]!;
