import type { FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { AppError } from '../http/errors/errors.js';
import { type QueryParameters, splitOnce, withFirstValues } from '../http/query.js';
import { appendHook } from '../http/routes.js';
import { isNavigation, varyByNavigation } from '../http/edge/unrouted-requests.js';
import type { Config } from '../config/config.js';
import { notFoundPage, readPage, sendHtml } from '../reference/site/pages.js';

const MAX_DOCUMENT = 64 * 1024;

const OFF =
  'Programs send GraphQL operations to this address. The playground is off; <code>GRAPHQL_PLAYGROUND=on</code> enables it.';

export const PATH = '/graphql';

/** Extends the route that `ApolloDriver` registers: by the playground, the limit of a document and `HEAD`. */
export const graphqlRoute = fastifyPlugin<{ config: Config }>(
  (fastify, { config }, done) => {
    const withPlayground = config.graphql.playground;
    const page = withPlayground
      ? readPage('playground/index.html', { path: PATH }, config)
      : notFoundPage(OFF, config);

    fastify.addHook('onRoute', (route) => {
      if (route.url !== PATH) return;
      const { handler } = route;
      route.config = { ...route.config, noStore: true };
      appendHook(route, 'preHandler', (request, reply, next) => {
        if (request.method !== 'POST') {
          varyByNavigation(reply);
          if (isNavigation(request)) {
            sendHtml(withPlayground ? reply : reply.code(404), page);
            return;
          }
        }
        // An unreadable body becomes a GraphQL error, in the context.
        if (!request.context.isBodyUnreadable) checkSize(request.body);
        next();
      });
      route.handler = function (request, reply) {
        return handler.call(this, supported(request), reply);
      };
    });
    done();
  },
  { name: 'graphql', dependencies: ['keyed responses'] },
);

/**
 * A request that Apollo supports: not HEAD (Fastify removes the body of the response), without repeated parameters, of
 * which the first value counts, and with an address that is a URL: the host may be empty, or come from a header of a proxy.
 */
function supported(request: FastifyRequest): FastifyRequest {
  const isRepeated = Object.values(request.query as QueryParameters).some(Array.isArray);
  const isUrl = URL.canParse(request.url, `${request.protocol}://${request.hostname}/`);
  if (request.method !== 'HEAD' && !isRepeated && isUrl) return request;
  const [, query] = splitOnce(request.url, '?');
  return Object.create(request, {
    method: { value: request.method === 'HEAD' ? 'GET' : request.method },
    url: { value: `${PATH}?${withFirstValues(query)}` },
    protocol: { value: 'http' },
    hostname: { value: 'localhost' },
  });
}

export function checkSize(body: unknown): void {
  const { query } = (body ?? {}) as { query?: unknown };
  if (typeof query === 'string' && Buffer.byteLength(query) > MAX_DOCUMENT) {
    throw new AppError('PAYLOAD_TOO_LARGE', `A document is at most ${MAX_DOCUMENT / 1024} KiB of text`);
  }
}
