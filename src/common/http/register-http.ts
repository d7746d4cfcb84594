import helmet from '@fastify/helmet';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from '../../config/config.js';
import { AppError } from '../errors/errors.js';
import { rootLogger } from '../logging/create-logger.js';
import { Drain } from '../lifecycle/drain.js';
import { CursorPage, Page } from '../pagination/page.js';
import { pageLinks } from '../pagination/links.js';
import { Created } from './created.js';
import { readJsonBodies } from './json-body.js';
import { logRequests } from './request-log.js';
import { refuseUnrouted } from './route-methods.js';

/** Everything that each request passes before Nest sees it, and each reply after, in order. */
export async function registerHttp(app: NestFastifyApplication): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const config = app.get(Config);
  const drain = app.get(Drain);

  logRequests(fastify, rootLogger());
  fastify.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (drain.draining) reply.header('connection', 'close');
    if (drain.closing) throw new AppError('SERVICE_UNAVAILABLE', 'This process is stopping, please retry');
  });
  await fastify.register(helmet, {
    contentSecurityPolicy: { directives: API_POLICY, useDefaults: false },
    // Who may read the answers is a matter of CORS.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  });
  // Loaded with the routes, not before: its preflight route needs Nest's error handler.
  app.enableCors(corsOptions(config));
  fastify.addHook('onRequest', refuseUnrouted(fastify));
  readJsonBodies(fastify);

  fastify.addHook('preSerialization', async (request, reply, payload) => {
    if (payload instanceof Created) reply.header('location', payload.location);
    if (payload instanceof Page || payload instanceof CursorPage) {
      const links = pageLinks(request.url, payload);
      if (links) reply.header('link', links);
    }
    return payload;
  });
}

/** JSON loads nothing and is never framed. */
const API_POLICY = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };

function corsOptions({ corsOrigins }: Config) {
  const anyone = corsOrigins === '*';
  return {
    origin: anyone ? '*' : [...corsOrigins],
    credentials: !anyone,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['X-Request-ID', 'Location', 'Link', 'Retry-After'],
    maxAge: 600,
    // The preflight goes on to the hook that knows which paths there are.
    preflightContinue: true,
    strictPreflight: false,
  };
}
