import fastifyCors from '@fastify/cors';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../config/config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false` excludes a route from @fastify/cors. */
    cors?: false;
  }
}

interface CorsOptions {
  readonly config: Config;
  /** The headers that scripts of other origins may read. */
  readonly exposedHeaders: readonly string[];
}

/**
 * Cross-origin requests (Fetch standard). If any origin may read the responses, the headers of routes are constant,
 * and @fastify/cors handles preflights and requests without a route only.
 */
export const cors = fastifyPlugin<CorsOptions>(
  async (fastify, { config: { corsOrigins }, exposedHeaders }) => {
    const isAnyone = corsOrigins === '*';
    if (isAnyone) {
      const constant = {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': exposedHeaders.join(', '),
      };
      fastify.addHook('onRequest', (_request, reply, next) => {
        reply.headers(constant);
        next();
      });
      fastify.addHook('onRoute', (route) => {
        if (![route.method].flat().includes('OPTIONS')) route.config = { ...route.config, cors: false };
      });
    }
    await fastify.register(fastifyCors, {
      origin: isAnyone ? '*' : [...corsOrigins],
      credentials: !isAnyone,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: [...exposedHeaders],
      maxAge: 600,
      // The preflight continues to the hook that finds the methods of a path.
      preflightContinue: true,
      strictPreflight: false,
    });
  },
  { name: 'cors', dependencies: ['headers'] },
);
