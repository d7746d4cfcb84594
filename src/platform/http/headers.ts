import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../config/config.js';
import { makePrivate } from './cache-headers.js';

/**
 * The headers of an API (OWASP REST Security Cheat Sheet, "Security Headers"): its responses cannot be
 * framed, executed, sniffed or downgraded to HTTP. Helmet's other headers are for pages.
 */
const API_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  // A redirect, such as of a social login, must not reveal the address before it.
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

interface HeaderOptions {
  readonly config: Config;
  /** Whether the process accepts no new connections: an open one gets one more response. */
  readonly isClosing: () => boolean;
}

/** Sets the headers that every response has. */
export const headers = fastifyPlugin<HeaderOptions>(
  (fastify, { config: { writeAccess }, isClosing }, done) => {
    fastify.addHook('onRequest', (request, reply, next) => {
      reply.headers(API_HEADERS);
      reply.header('x-request-id', request.id);
      // Without any, a shared cache would invent a lifetime (RFC 9111, section 4.2.2).
      reply.header('cache-control', fastify.routes.has('noStore', request) ? 'no-store' : 'no-cache');
      // Before the guard, so that an error that comes before it has what the route has.
      const { dependsOnCaller } = request.routeOptions.config;
      if (dependsOnCaller === 'always' || (dependsOnCaller === 'unless open' && writeAccess !== 'open'))
        makePrivate(reply);
      if (isClosing()) reply.header('connection', 'close');
      next();
    });
    done();
  },
  { name: 'headers', dependencies: ['routes', 'log'] },
);
