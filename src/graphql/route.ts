import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { AppError } from '../common/errors/errors.js';
import {
  isNavigation,
  notFoundPage,
  readPage,
  sendHtml,
  serveFiles,
  varyByNavigation,
} from '../common/http/browser-pages.js';
import { inSpan } from '../common/tracing/spans.js';
import { isUnreadable } from '../common/http/json-body.js';

/** Bytes of a document's text. */
const MAX_DOCUMENT = 64 * 1024;

const OFF =
  'Programs send GraphQL operations to this address. The playground is off; <code>GRAPHQL_PLAYGROUND=on</code> enables it.';

/** Extends the route that `ApolloDriver` registers. Call it before that. */
export function setUpRoute(fastify: FastifyInstance, path: string, withPlayground: boolean): void {
  const page = withPlayground
    ? readPage('playground/index.html', '/graphql', true)
    : notFoundPage(OFF, false);
  if (withPlayground) serveFiles(fastify, 'playground', `${path}/playground/`);

  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.url !== path) return;
    const { handler } = route;
    route.config = { ...route.config, noStore: true };
    route.handler = function (request, reply) {
      if (request.method !== 'POST') {
        varyByNavigation(reply);
        if (isNavigation(request)) return sendHtml(withPlayground ? reply : reply.code(404), page);
      }
      // An unreadable body becomes a GraphQL error, in the context.
      if (!isUnreadable(request.body)) checkSize(request.body);
      return inSpan('GraphQL', () => handler.call(this, asGet(request), reply));
    };
  });
}

/** Apollo does not support HEAD; Fastify removes the body of the response. */
const asGet = (request: FastifyRequest): FastifyRequest =>
  request.method === 'HEAD' ? Object.create(request, { method: { value: 'GET' } }) : request;

export function checkSize(body: unknown): void {
  const { query } = (body ?? {}) as { query?: unknown };
  if (typeof query === 'string' && Buffer.byteLength(query) > MAX_DOCUMENT) {
    throw new AppError('PAYLOAD_TOO_LARGE', `A document is at most ${MAX_DOCUMENT / 1024} KiB of text`);
  }
}
