import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PinoLogger } from 'nestjs-pino';
import { Registry } from 'prom-client';
import { cors } from './platform/http/cors.js';
import { headers } from './platform/http/headers.js';
import { jsonBodies } from './platform/http/json-body.js';
import { jsonText } from './platform/http/json-text.js';
import { limits } from './platform/http/rate-limit.js';
import { requestLog } from './platform/http/request-log.js';
import { routes } from './platform/http/routes.js';
import { unroutedRequests } from './platform/http/edge/unrouted-requests.js';
import { entityTags } from './platform/http/responses/entity-tag.js';
import { publicPaths } from './platform/http/responses/public-paths.js';
import { largeResponses } from './platform/http/responses/large-responses.js';
import { Drain } from './platform/operations/drain.js';
import { ambiguousRequests, hardening } from './platform/http/edge/hardening.js';
import { migrationGate } from './platform/http/migration-gate.js';
import { Config } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { graphqlRoute } from './platform/graphql/route.js';
import { IdempotencyService } from './platform/idempotency/idempotency.service.js';
import { keyedResponses } from './platform/idempotency/keyed-response.js';
import { requestMetrics } from './platform/operations/measure-requests.js';
import { notFoundPage, sendHtml } from './platform/reference/site/pages.js';

/** The headers of responses that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  'X-Request-ID',
  'Location',
  'Link',
  'Retry-After',
  'Idempotent-Replayed',
  'ETag',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
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
  const page = notFoundPage('There is no page at this address.', config);

  // The connection, and what is observed of each request.
  await fastify.register(hardening, { config }); // what Node.js would respond to itself
  await fastify.register(requestMetrics, { registry, isOn: config.metricsPort !== undefined });
  await fastify.register(requestLog, { logger: PinoLogger.root }); // the context with the request id; one line at the end
  await fastify.register(routes); // collects what routes say about themselves

  // `onRequest`: headers first, so that rejections have them, too.
  // While the server listens, the client of a closed connection would open another one, which the stop could reset.
  const isClosing = () => drain.closing && !fastify.server.listening;
  await fastify.register(headers, { config, isClosing });
  await fastify.register(cors, { config, exposedHeaders: EXPOSED_HEADERS });
  await fastify.register(migrationGate, { database }); // 503 until the migrations have run
  await fastify.register(limits, { config }); // 429
  await fastify.register(ambiguousRequests); // 400 for what a proxy might have parsed differently
  await fastify.register(unroutedRequests, { sendNotFoundPage: (reply) => void sendHtml(reply, page) }); // 404, 405

  // The body: 413 if it is too large, 503 if others use the memory, 415 if it is not JSON; a large one waits for others.
  // One that is not valid JSON reaches Nest, where the guard comes first.
  await fastify.register(jsonBodies, { registry });

  // Nest: the guard, interceptors, pipes, the handler; an exception becomes a response in `ErrorFilter`.

  // After Nest: the value becomes text, then `onSend`. GraphQL also has a `preHandler`, before Nest.
  await fastify.register(jsonText); // writes JSON that is stored as text unchanged
  await fastify.register(entityTags); // 304
  await fastify.register(keyedResponses, { replays: app.get(IdempotencyService).replays }); // stores the response, commits
  await fastify.register(publicPaths, { basePath: config.basePath }); // `Location` and `Link` below a path of `PUBLIC_URL`
  await fastify.register(graphqlRoute, { config }); // the playground, and the size of documents
  await fastify.register(largeResponses, { registry }); // 503 for reads, when too much waits to be sent
}
