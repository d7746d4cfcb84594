/**
 * The reference of the benchmark: a hand-written server on Fastify and the plain drivers that does the same
 * visible work: the same routes, responses, headers, checks and log line, and the same prepared
 * SQL. It has no structure, and only the measured paths.
 *
 *     DATABASE_URL=… | DATA_DIR=… PORT=… node bench/posts/baseline.ts
 */
import { randomUUID } from 'node:crypto';
import fastify, { type FastifyReply } from 'fastify';
import { pino } from 'pino';
import { caseFold } from '../../src/platform/database/case-fold.ts';
import { type Row, store } from './baseline-database.ts';
import { serveApollo } from './baseline-apollo.ts';
import { serveGraphql } from './baseline-graphql.ts';
import { serveNest } from './baseline-nest.ts';
import { serveOrders } from './baseline-orders.ts';

const { run } = store;

const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-ID, Location, Link, Retry-After, Idempotent-Replayed, ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const log = pino({ base: null });
const app = fastify({
  genReqId: () => randomUUID(),
  requestTimeout: 30_000,
  connectionTimeout: 120_000,
  keepAliveTimeout: 72_000,
  http: { connectionsCheckingInterval: 1000, headersTimeout: 15_000, requireHostHeader: false },
  routerOptions: { ignoreTrailingSlash: true },
});

app.addHook('onRequest', (request, reply, done) => {
  reply.headers(HEADERS);
  reply.header('x-request-id', request.id);
  if (request.url === '/graphql') reply.header('cache-control', 'no-store');
  const start = performance.now();
  const address = request.ip;
  // Also when the client disconnects before the response.
  reply.raw.on('close', () => {
    const isSent = reply.raw.writableFinished;
    log.info({
      requestId: request.id,
      clientRequestId: request.headers['x-request-id']?.slice(0, 200),
      method: request.method,
      route: request.routeOptions.url,
      path: request.url.split('?', 1)[0],
      status: isSent ? reply.statusCode : undefined,
      aborted: isSent ? undefined : true,
      milliseconds: Math.round((performance.now() - start) * 100) / 100,
      address,
    });
  });
  const { host, 'content-encoding': encoding = 'identity' } = request.headers;
  if (host === undefined && request.raw.httpVersion === '1.1') {
    reply.code(400).send(rejection('MALFORMED_REQUEST', 'The Host header is missing'));
  } else if (encoding !== 'identity') {
    reply.code(415).send(rejection('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed'));
  } else {
    done();
  }
});
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => {
  try {
    done(null, JSON.parse(body.toString()));
  } catch {
    done(null, undefined);
  }
});

/** The body of a post; its version and time make the entity tag. */
function tagged(reply: FastifyReply, { version, ...data }: Row): { data: Row } {
  const tag = `"${version}-${Date.parse(data['updated_at']).toString(36)}"`;
  reply.header('etag', tag).header('cache-control', 'no-cache');
  return { data };
}

const rejection = (code: string, message: string) => ({ error: { code, message } });
const isText = (value: unknown, max = Infinity): value is string =>
  typeof value === 'string' &&
  value.isWellFormed() &&
  !value.includes('\0') &&
  Array.from(value).length <= max;

function idOf(text: string): number | undefined {
  return /^[+-]?\d{1,19}$/.test(text) ? Number(text) : undefined;
}

function limitOf(text?: string): number {
  const limit = Number(text);
  return Number.isInteger(limit) && limit >= 1 && limit <= 100 ? limit : 20;
}

app.get('/health', () => ({ status: 'ok' }));

const reads = new Map<number, number>();
setInterval(() => {
  if (reads.size > 0) void run('countReads', { reads: JSON.stringify([...reads]) });
  reads.clear();
}, 3000);

app.get<{ Params: { id: string } }>('/v1/posts/:id', async (request, reply) => {
  const id = idOf(request.params.id);
  if (id === undefined) return reply.code(400).send(rejection('INVALID_ID', 'The id is not a number'));
  const body = await findPost(id, reply);
  if (!body) return reply.code(404).send(rejection('NOT_FOUND', 'Post not found'));
  if (request.headers['if-none-match'] !== reply.getHeader('etag')) return body;
  return reply.code(304).send();
});

async function findPost(id: number, reply: FastifyReply) {
  const [data] = await run('one', { id });
  if (!data) return undefined;
  reads.set(id, (reads.get(id) ?? 0) + 1);
  return tagged(reply, data);
}

app.get<{ Querystring: Record<string, string> }>('/v1/posts', (request, reply) =>
  listPosts(request.query, reply),
);

async function listPosts(query: Record<string, string>, reply: FastifyReply) {
  const { status } = query;
  const page = Math.max(1, Number(query['page']) || 1);
  const limit = limitOf(query['limit']);
  const offset = (page - 1) * limit;
  const [[counted], data] = await Promise.all([
    run(status ? 'totalDrafts' : 'total', {}),
    run(status ? 'listDrafts' : 'list', status ? { status, limit, offset } : { limit, offset }),
  ]);
  const { total } = counted!;
  const last = Math.max(1, Math.ceil(total / limit));
  const link = (number: number, relation: string) => {
    const parameters = new URLSearchParams(query);
    parameters.set('page', String(number));
    return `</v1/posts?${parameters.toString()}>; rel="${relation}"`;
  };
  const hasNext = page * limit < total;
  reply.header(
    'link',
    [
      link(1, 'first'),
      page > 1 && link(page - 1, 'prev'),
      hasNext && link(page + 1, 'next'),
      link(last, 'last'),
    ]
      .filter(Boolean)
      .join(', '),
  );
  return { data, meta: { total, page, limit, has_next: hasNext } };
}

app.get<{ Querystring: Record<string, string> }>('/v1/posts/cursor', (request, reply) =>
  listByCursor(request.query, reply),
);

async function listByCursor(query: Record<string, string>, reply: FastifyReply) {
  const { cursor } = query;
  const after = cursor ? idOf(atob(cursor)) : 0;
  if (after === undefined) return reply.code(400).send(rejection('INVALID_CURSOR', 'The cursor is not one'));
  const limit = limitOf(query['limit']);
  const rows = await run('listByCursor', { after, limit: limit + 1 });
  const data = rows.slice(0, limit);
  if (rows.length <= limit) return { data, has_next: false };
  const next_cursor = Buffer.from(String(data.at(-1)!['id'])).toString('base64');
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', next_cursor);
  reply.header('link', `</v1/posts/cursor?${parameters.toString()}>; rel="next"`);
  return { data, next_cursor, has_next: true };
}

app.post<{ Body?: Row }>('/v1/posts', async (request, reply) => {
  const { title, content, status = 'draft' } = request.body ?? {};
  if (!isText(title, 200) || !isText(content) || title === '' || content === '') {
    return reply.code(422).send(rejection('VALIDATION_ERROR', 'title and content are required'));
  }
  if (status !== 'draft' && status !== 'published') {
    return reply.code(422).send(rejection('VALIDATION_ERROR', 'status must be draft or published'));
  }
  return createPost({ title, content, status }, reply);
});

async function createPost({ title, content, status = 'draft' }: Row, reply: FastifyReply) {
  const values = {
    titleFolded: caseFold(title),
    contentFolded: caseFold(content),
    now: new Date().toISOString(),
  };
  const [data] = await run('create', { title, content, status, ...values });
  reply.code(201).header('location', `/v1/posts/${data!['id']}`);
  return tagged(reply, data!);
}

app.patch<{ Params: { id: string }; Body?: Row }>('/v1/posts/:id', async (request, reply) => {
  const id = idOf(request.params.id);
  if (id === undefined) return reply.code(400).send(rejection('INVALID_ID', 'The id is not a number'));
  const { title = null, content = null, status = null } = request.body ?? {};
  if ((title !== null && (!isText(title, 200) || title === '')) || (content !== null && !isText(content))) {
    return reply.code(422).send(rejection('VALIDATION_ERROR', 'title and content must be text'));
  }
  if (status !== null && status !== 'draft' && status !== 'published') {
    return reply.code(422).send(rejection('VALIDATION_ERROR', 'status must be draft or published'));
  }
  const data = await updatePost(id, { title, content, status }, reply);
  return data ?? reply.code(404).send(rejection('NOT_FOUND', 'Post not found'));
});

async function updatePost(
  id: number,
  { title = null, content = null, status = null }: Row,
  reply: FastifyReply,
) {
  const [data] = await run('update', {
    id,
    title,
    content,
    status,
    titleFolded: title === null ? null : caseFold(title),
    contentFolded: content === null ? null : caseFold(content),
    now: new Date().toISOString(),
  });
  return data && tagged(reply, data);
}

serveOrders(app, store);
serveGraphql(app, run);
await serveApollo(app, run);
await serveNest(app, {
  find: (id, reply) => findPost(Number(id), reply),
  create: createPost,
  update: (id, input, reply) => updatePost(Number(id), input, reply),
  list: listPosts,
  listByCursor,
});

const address = await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' });
log.info(`Ready on ${address}, by hand`);
