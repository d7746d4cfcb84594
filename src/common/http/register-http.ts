import cors from '@fastify/cors';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { sendNotModified } from '../conditional/entity-tag.js';
import { AppError } from '../errors/errors.js';
import { Drain } from '../lifecycle/drain.js';
import { Metrics } from '../metrics/metrics.js';
import { RateLimiter } from '../rate-limit/rate-limiter.js';
import { ambiguityOf } from './ambiguous-request.js';
import { rootLogger } from '../logging/create-logger.js';
import { boundResponses } from './bound-responses.js';
import { CONSISTENCY_TOKEN, keepConsistent } from './consistency.js';
import { GuardedServer } from './guarded-server.js';
import { readJsonBodies, setUpBody } from './json-body.js';
import { serializeJsonText } from './json-text.js';
import { logRequests } from './request-log.js';
import { rejectUnrouted } from './route-methods.js';
import { API_HEADERS } from './security-headers.js';
import { handleOddRequests } from './unreadable-request.js';
import { warnOfUntrustedProxy } from './untrusted-proxy.js';
import { Upgrades } from './upgrades.js';
import { waitForMigrations } from './wait-for-migrations.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `false` excludes a route from @fastify/cors. */
    cors?: false;
    /** No cache may store the responses of the route. */
    noStore?: true;
  }
}

/**
 * The hooks that every request passes before Nest, and every response after it, in order. They run
 * on every request, so they use callbacks: promises would be slower.
 */
export function registerHttp(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  const config = app.get(Config);
  const drain = app.get(Drain);
  const metrics = app.get(Metrics);
  const database = app.get(Database);
  const hasReplicas = database.replicas().length > 0;
  const exposed = [...EXPOSED_HEADERS, ...(hasReplicas ? [CONSISTENCY_TOKEN] : [])];
  const constant = { ...API_HEADERS, ...corsHeaders(config, exposed) };

  logRequests(fastify, rootLogger());
  handleOddRequests(fastify);
  warnOfUntrustedProxy(fastify, config);
  sendNotModified(fastify);
  boundResponses(fastify, metrics);
  if (hasReplicas) keepConsistent(fastify, database, config);
  if (fastify.server instanceof GuardedServer) fastify.server.upgrades = app.get(Upgrades);

  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(constant);
    reply.header('x-request-id', request.id);
    if (isNeverStored(request)) reply.header('cache-control', 'no-store');
    // The process accepts no new connections; an open one gets one more response.
    if (drain.closing) reply.header('connection', 'close');
    const ambiguity = ambiguityOf(request.raw);
    if (ambiguity === undefined) {
      done();
    } else {
      // The bytes that follow on this connection may not be a request.
      reply.header('connection', 'close');
      done(new AppError('MALFORMED_REQUEST', ambiguity));
    }
  });

  waitForMigrations(fastify, database);

  fastify.addHook('onRoute', setUpBody);
  fastify.addHook('onRoute', serializeJsonText);

  // Plugins load after the routes. CORS requires that, because its preflight route uses Nest's error handler.
  // The rejection comes after CORS, so that browsers can read it.
  const reject = rejectUnrouted(fastify, config);
  void fastify.register(cors, corsOptions(config, exposed));
  if (config.corsOrigins === '*') {
    // The CORS headers of routes are constant; the plugin handles preflights and unknown routes only.
    fastify.addHook('onRoute', (route) => {
      if (![route.method].flat().includes('OPTIONS')) route.config = { ...route.config, cors: false };
    });
  }
  void fastify.register(
    fastifyPlugin(async (instance) => {
      await app.get(RateLimiter).register(instance);
      instance.addHook('onRequest', reject);
      readJsonBodies(instance, metrics);
    }),
  );
}

/** Below `/auth/`, errors of unknown paths must not be stored either. The guard adds responses that depend on who asks. */
const isNeverStored = ({ routeOptions: { config, url: route }, url }: FastifyRequest): boolean =>
  config.noStore === true || (route ?? url).startsWith('/auth/');

const EXPOSED_HEADERS = [
  'X-Request-ID',
  'Location',
  'Link',
  'Retry-After',
  'Idempotent-Replayed',
  'ETag',
  'RateLimit',
  'RateLimit-Policy',
];

/** The headers of every response if any origin may read it. */
function corsHeaders({ corsOrigins }: Config, exposed: readonly string[]): Record<string, string> {
  if (corsOrigins !== '*') return {};
  return {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': exposed.join(', '),
  };
}

function corsOptions({ corsOrigins }: Config, exposed: readonly string[]) {
  const anyone = corsOrigins === '*';
  return {
    origin: anyone ? '*' : [...corsOrigins],
    credentials: !anyone,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [...exposed],
    maxAge: 600,
    // The preflight continues to the hook that finds the methods of a path.
    preflightContinue: true,
    strictPreflight: false,
  };
}
