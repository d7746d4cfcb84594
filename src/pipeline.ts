import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Registry } from 'prom-client';
import { AuditLog } from './audit/audit-log.js';
import { auditTrails } from './audit/audit-requests.js';
import { bearerTokens, JwtStrategy } from './auth/tokens/index.js';
import { cors } from './common/http/cors.js';
import { headers } from './common/http/headers.js';
import { jsonBodies } from './common/http/json-body.js';
import { jsonText } from './common/http/json-text.js';
import { limits, RateLimiter } from './common/http/rate-limiter.js';
import { requestLog } from './common/http/request-log.js';
import { routes } from './common/http/routes.js';
import { unroutedRequests } from './common/http/unrouted-requests.js';
import { entityTags } from './common/responses/entity-tag.js';
import { largeResponses } from './common/responses/large-responses.js';
import { rootLogger } from './common/server/create-logger.js';
import { Drain } from './common/server/drain.js';
import { ambiguousRequests, hardening } from './common/server/hardening.js';
import { pendingMigrations } from './common/server/pending-migrations.js';
import { Upgrades } from './common/server/upgrades.js';
import { Config } from './config/config.js';
import { Database } from './database/database.js';
import { graphqlRoute } from './graphql/route.js';
import { IdempotencyService } from './idempotency/idempotency.service.js';
import { idempotentResponses } from './idempotency/pending-response.js';
import { requestMetrics } from './metrics/measure-requests.js';
import { notFoundPage, sendHtml } from './site/pages.js';

/** The headers of responses that scripts of other origins may read. */
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

/**
 * What every request passes before Nest, and its response after Nest. At each stage of a request (`onRequest`, body,
 * `preHandler`, `onSend`), the steps run in the order of this list; all `onSend` hooks belong to routes, and run after
 * those that an application adds for all routes. A step names those that it must follow as its `dependencies`, and
 * Fastify checks that they are there. Hooks use callbacks: promises would be slower.
 */
export async function registerPipeline(app: NestFastifyApplication): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const config = app.get(Config);
  const registry = app.get<Registry>(Registry);
  const database = app.get(Database);
  const drain = app.get(Drain);
  const limiter = app.get(RateLimiter);
  const upgrades = app.get(Upgrades);
  const log = app.get(AuditLog);
  const page = notFoundPage('There is no page at this address.', config);

  // The connection, and what is observed of each request.
  await fastify.register(hardening, { config, upgrades }); // what Node.js would respond to itself
  await fastify.register(requestMetrics, { registry, isOn: config.metricsPort !== undefined });
  await fastify.register(requestLog, { logger: rootLogger() }); // the context with the request id; one line at the end
  await fastify.register(routes); // collects what routes say about themselves

  // `onRequest`: headers first, so that rejections have them, too.
  await fastify.register(headers, { isClosing: () => drain.closing });
  await fastify.register(cors, { config, exposedHeaders: EXPOSED_HEADERS });
  await fastify.register(pendingMigrations, { database }); // 503 until the migrations have run
  await fastify.register(limits, { limiter }); // 429
  await fastify.register(ambiguousRequests); // 400 for what a proxy might have parsed differently
  await fastify.register(unroutedRequests, { sendNotFoundPage: (reply) => void sendHtml(reply, page) }); // 404, 405

  // The body: 413 if it is too large, 415 if it is not JSON; a large one waits for others. One that is not valid JSON
  // reaches Nest, where the guard comes first.
  await fastify.register(jsonBodies, { registry });

  // Nest: the guard, interceptors, pipes, the handler; an exception becomes a response in `ErrorFilter`.
  await fastify.register(bearerTokens, { strategy: app.get<JwtStrategy>(JwtStrategy) }); // for `AuthGuard('jwt')`

  // After Nest: the value becomes text, then `onSend`. Audit and GraphQL also have a `preHandler`, before Nest.
  await fastify.register(jsonText); // writes JSON that is stored as text unchanged
  await fastify.register(entityTags); // 304
  await fastify.register(idempotentResponses, { replays: app.get(IdempotencyService).replays }); // stores the response, commits
  await fastify.register(auditTrails, { log }); // records what no transaction has recorded
  await fastify.register(graphqlRoute, { config }); // the playground, and the size of documents
  await fastify.register(largeResponses, { registry }); // 503 for reads, when too much waits to be sent
}
