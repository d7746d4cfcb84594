/**
 * What the service is held against: a server written by hand for speed, with Fastify and the plain drivers,
 * that does the same visible work: the same routes, answers, headers, checks and log line, and the same SQL,
 * prepared. It has none of the structure, and only the paths that are measured.
 *
 *     DATABASE_URL=… | DATA_DIR=… PORT=… node bench/baseline.ts
 */
import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import fastify from 'fastify';
import { Pool, types } from 'pg';
import { pino } from 'pino';
import { fold } from '../src/posts/fold.ts';
import { graphqlStatements, serveGraphql } from './support/baseline-graphql.ts';

type Values = Record<string, string | number | null>;
type Row = Record<string, any>;

const url = process.env['DATABASE_URL'];

const COLUMNS = 'id, title, content, author_id, status, created_at, updated_at';
const NEWEST = 'ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset';
const TOTAL = 'SELECT CAST(coalesce(sum(total), 0) AS bigint) AS total FROM post_totals WHERE scope IN';
const FORWARD = url
  ? "greatest(:now::timestamptz, updated_at + interval '1 millisecond')"
  : "max(:now, strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'))";

const SQL = {
  one: `SELECT ${COLUMNS} FROM posts WHERE id = :id`,
  list: `SELECT ${COLUMNS} FROM posts ${NEWEST}`,
  total: `${TOTAL} ('status=draft', 'status=published')`,
  listDrafts: `SELECT ${COLUMNS} FROM posts WHERE status = :status ${NEWEST}`,
  totalDrafts: `${TOTAL} ('status=draft')`,
  walk: `SELECT ${COLUMNS} FROM posts WHERE id > :after ORDER BY id LIMIT :limit`,
  create: `INSERT INTO posts
      (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
    VALUES (:title, :content, :titleFolded, :contentFolded, 1, :status, :now, :now) RETURNING ${COLUMNS}`,
  update: `UPDATE posts SET title = coalesce(:title, title), title_folded = coalesce(:titleFolded, title_folded),
      content = coalesce(:content, content), content_folded = coalesce(:contentFolded, content_folded),
      status = coalesce(:status, status), updated_at = ${FORWARD}
    WHERE id = :id RETURNING ${COLUMNS}`,
  ...graphqlStatements(url !== undefined),
};

/** Object identifiers of PostgreSQL's types. */
const INT8 = 20;
const TIMESTAMPTZ = 1184;

const run = url ? await postgres(url) : sqlite(process.env['DATA_DIR']!);

async function postgres(connectionString: string) {
  const readable = {
    getTypeParser: (type: number, format?: any) => {
      if (type === INT8) return Number;
      if (type === TIMESTAMPTZ) return (text: string) => new Date(text).toISOString();
      return types.getTypeParser(type, format);
    },
  };
  const pool = new Pool({ connectionString, max: 10, types: readable });
  const prepared = Object.fromEntries(
    Object.entries(SQL).map(([name, sql]) => {
      const names: string[] = [];
      const text = sql.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, parameter: string) => {
        if (!names.includes(parameter)) names.push(parameter);
        return `$${names.indexOf(parameter) + 1}`;
      });
      return [name, { name, text, names }];
    }),
  );
  return async (name: keyof typeof SQL, values: Values): Promise<Row[]> => {
    const { text, names } = prepared[name]!;
    return (await pool.query({ name, text, values: names.map((parameter) => values[parameter]) })).rows;
  };
}

function sqlite(folder: string) {
  const database = new Database(`${folder}/database.sqlite`);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  const prepared = Object.fromEntries(
    Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]),
  );
  return (name: keyof typeof SQL, values: Values): Row[] => prepared[name]!.all(values) as Row[];
}

const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'X-Request-ID, Location, Link, Retry-After, Idempotent-Replayed',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'cross-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};

const log = pino({ base: null });
const app = fastify({ genReqId: () => randomUUID(), routerOptions: { ignoreTrailingSlash: true } });

app.addHook('onRequest', (request, reply, done) => {
  reply.headers(HEADERS);
  reply.header('x-request-id', request.id);
  done();
});
app.addHook('onResponse', (request, reply, done) => {
  log.info({
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    status: reply.statusCode,
    milliseconds: Math.round(reply.elapsedTime * 100) / 100,
  });
  done();
});
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => {
  try {
    done(null, JSON.parse(body.toString()));
  } catch {
    done(null, undefined);
  }
});

const refusal = (code: string, message: string) => ({ error: { code, message } });
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

app.get<{ Params: { id: string } }>('/v1/posts/:id', async (request, reply) => {
  const id = idOf(request.params.id);
  if (id === undefined) return reply.code(400).send(refusal('INVALID_ID', 'The id is not a number'));
  const [data] = await run('one', { id });
  if (!data) return reply.code(404).send(refusal('NOT_FOUND', 'Post not found'));
  reads.set(id, (reads.get(id) ?? 0) + 1);
  return { data };
});

app.get<{ Querystring: Record<string, string> }>('/v1/posts', async (request, reply) => {
  const { status } = request.query;
  const page = Math.max(1, Number(request.query['page']) || 1);
  const limit = limitOf(request.query['limit']);
  const offset = (page - 1) * limit;
  const [[counted], data] = await Promise.all([
    run(status ? 'totalDrafts' : 'total', {}),
    run(status ? 'listDrafts' : 'list', status ? { status, limit, offset } : { limit, offset }),
  ]);
  const { total } = counted!;
  const last = Math.max(1, Math.ceil(total / limit));
  const link = (number: number, relation: string) => {
    const parameters = new URLSearchParams(request.query);
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
});

app.get<{ Querystring: Record<string, string> }>('/v1/posts/cursor', async (request, reply) => {
  const { cursor } = request.query;
  const after = cursor ? idOf(atob(cursor)) : 0;
  if (after === undefined) return reply.code(400).send(refusal('INVALID_CURSOR', 'The cursor is not one'));
  const limit = limitOf(request.query['limit']);
  const rows = await run('walk', { after, limit: limit + 1 });
  const data = rows.slice(0, limit);
  if (rows.length <= limit) return { data, has_next: false };
  const next_cursor = Buffer.from(String(data.at(-1)!['id'])).toString('base64');
  const parameters = new URLSearchParams(request.query);
  parameters.set('cursor', next_cursor);
  reply.header('link', `</v1/posts/cursor?${parameters.toString()}>; rel="next"`);
  return { data, next_cursor, has_next: true };
});

app.post<{ Body?: Row }>('/v1/posts', async (request, reply) => {
  const { title, content, status = 'draft' } = request.body ?? {};
  if (!isText(title, 200) || !isText(content) || title === '' || content === '') {
    return reply.code(422).send(refusal('VALIDATION_ERROR', 'title and content are required'));
  }
  if (status !== 'draft' && status !== 'published') {
    return reply.code(422).send(refusal('VALIDATION_ERROR', 'status must be draft or published'));
  }
  const values = { titleFolded: fold(title), contentFolded: fold(content), now: new Date().toISOString() };
  const [data] = await run('create', { title, content, status, ...values });
  return reply.code(201).header('location', `/v1/posts/${data!['id']}`).send({ data });
});

app.patch<{ Params: { id: string }; Body?: Row }>('/v1/posts/:id', async (request, reply) => {
  const id = idOf(request.params.id);
  if (id === undefined) return reply.code(400).send(refusal('INVALID_ID', 'The id is not a number'));
  const { title = null, content = null, status = null } = request.body ?? {};
  if ((title !== null && (!isText(title, 200) || title === '')) || (content !== null && !isText(content))) {
    return reply.code(422).send(refusal('VALIDATION_ERROR', 'title and content must be text'));
  }
  if (status !== null && status !== 'draft' && status !== 'published') {
    return reply.code(422).send(refusal('VALIDATION_ERROR', 'status must be draft or published'));
  }
  const [data] = await run('update', {
    id,
    title,
    content,
    status,
    titleFolded: title === null ? null : fold(title),
    contentFolded: content === null ? null : fold(content),
    now: new Date().toISOString(),
  });
  if (!data) return reply.code(404).send(refusal('NOT_FOUND', 'Post not found'));
  return { data };
});

serveGraphql(app, run);

const address = await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' });
log.info(`Ready on ${address}, by hand`);
