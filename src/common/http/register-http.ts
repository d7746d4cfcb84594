import cors from '@fastify/cors';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Config } from '../../config/config.js';
import { AppError } from '../errors/errors.js';
import { Drain } from '../lifecycle/drain.js';
import { rootLogger } from '../logging/create-logger.js';
import { readJsonBodies, setUpBody } from './json-body.js';
import { serializeJsonText } from './json-text.js';
import { logRequests } from './request-log.js';
import { refuseUnrouted } from './route-methods.js';
import { securityHeaders } from './security-headers.js';
import { answerOddRequests } from './unreadable-request.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false` has @fastify/cors leave a route alone. */
    cors?: false;
  }
}

/**
 * Everything that each request passes before Nest sees it, and each reply after, in order. These hooks run
 * on every request, so they take callbacks: a promise for each would be felt.
 */
export function registerHttp(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  const config = app.get(Config);
  const drain = app.get(Drain);
  const constant = { ...securityHeaders(), ...corsHeaders(config) };

  logRequests(fastify, rootLogger());
  answerOddRequests(fastify);

  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(constant);
    reply.header('x-request-id', request.id);
    if (drain.draining) reply.header('connection', 'close');
    if (drain.closing && hasBeenAnswered(request)) {
      done(new AppError('SERVICE_UNAVAILABLE', 'This process is stopping, please retry'));
    } else if (lacksHost(request)) {
      done(new AppError('MALFORMED_REQUEST', 'The Host header is missing'));
    } else {
      done();
    }
  });

  fastify.addHook('onRoute', setUpBody);
  fastify.addHook('onRoute', serializeJsonText);

  // Plugins load after the routes. CORS needs that, as its preflight route takes Nest's error handler; and
  // a refusal has to come after CORS, so that a browser may read it.
  const refuse = refuseUnrouted(fastify);
  void fastify.register(cors, corsOptions(config));
  if (config.corsOrigins === '*') {
    // Their headers are constant, and so are not asked for; but for preflights and what has no route.
    fastify.addHook('onRoute', (route) => {
      if (route.url !== '*') route.config = { ...route.config, cors: false };
    });
  }
  void fastify.register(
    fastifyPlugin((instance, _options, done) => {
      instance.addHook('onRequest', refuse);
      readJsonBodies(instance);
      done();
    }),
  );
}

/** A connection that came in just before listening ended has not: its first request is still served. */
const hasBeenAnswered = ({ raw }: FastifyRequest): boolean => raw.socket.bytesWritten > 0;

/** RFC 9112, section 3.2: HTTP/1.1 requires it, HTTP/1.0 does not. */
const lacksHost = ({ headers, raw }: FastifyRequest): boolean =>
  headers.host === undefined && raw.httpVersion === '1.1';

const EXPOSED_HEADERS = ['X-Request-ID', 'Location', 'Link', 'Retry-After', 'Idempotent-Replayed'];

/** What every answer says where any origin may read it. */
function corsHeaders({ corsOrigins }: Config): Record<string, string> {
  if (corsOrigins !== '*') return {};
  return {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
  };
}

function corsOptions({ corsOrigins }: Config) {
  const anyone = corsOrigins === '*';
  return {
    origin: anyone ? '*' : [...corsOrigins],
    credentials: !anyone,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
    // The preflight goes on to the hook that knows which paths there are.
    preflightContinue: true,
    strictPreflight: false,
  };
}
