import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../../support/free-port.js';
import { Service } from '../../support/service.js';
import { GitHub } from '../../support/social/github.js';
import { siteOf, Visitor } from '../../support/social/visitor.js';
import { createStore, type TestStore } from '../../support/stores.js';
import { OtlpReceiver, type Span } from './otlp-receiver.js';

/** Kinds of spans. */
const SERVER = 2;
const CLIENT = 3;

const PUBLIC_URL = 'https://api.example.com';
const PASSWORD = 'correct horse';
const SECRET = 'hunter2';

const { name: NAME } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string };
const PAGE = readFileSync('docs/operations.md', 'utf8');
/** The command of the page: what Node.js loads first, and the service. */
const [, PRELOADED = '', SCRIPT = ''] = /^.*OTEL_\S+ node --import (\S+) (\S+)$/m.exec(PAGE) ?? [];

/** The trace context that a client sends. */
class ClientTrace {
  readonly id = randomBytes(16).toString('hex');
  readonly span = randomBytes(8).toString('hex');
  readonly headers = { traceparent: `00-${this.id}-${this.span}-01` };
}

describe('the service with the command of the page', () => {
  const registration = new ClientTrace();
  const query = new ClientTrace();
  const invalid = new ClientTrace();
  const failure = new ClientTrace();
  const call = new ClientTrace();
  let receiver: OtlpReceiver;
  let github: GitHub;
  let testStore: TestStore;
  let service: Service;
  let callback: URL;

  const start = (endpoint: string): Promise<Service> => {
    const settings = {
      ...testStore.environment,
      ...github.settings,
      PUBLIC_URL,
      NODE_OPTIONS: '--import ./test/extra/tracing/call-by-http.mjs',
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      CALL_AT_START: `${receiver.url}/call`,
    };
    return Service.start(settings, SCRIPT, { preloaded: PRELOADED });
  };
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    service.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const below = ({ spanId }: Span): Span[] =>
    receiver.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
  const serverSpanOf = ({ id }: ClientTrace): Span => receiver.of(id).find(({ kind }) => kind === SERVER)!;

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    github = await new GitHub().start();
    testStore = await createStore('PostgreSQL');
    service = await start(receiver.url);
    const account = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    await post('/auth/register/', account, registration.headers);
    await post('/graphql', { query: 'query Ours { __typename }' }, query.headers);
    await post('/graphql', { query: `{ __type(name: { a: "${SECRET}" }) { name } }` }, invalid.headers);
    await service.fetch(`/auth/${SECRET}?code=${SECRET}`, { headers: failure.headers });
    await service.fetch('/auth/me', { headers: { ...call.headers, 'x-call': `${receiver.url}/call` } });
    const emails = [{ email: 'octo@example.com', primary: true, verified: true }];
    github.person = { id: 1, login: 'octo', name: null, emails };
    const visitor = new Visitor(siteOf(service, PUBLIC_URL));
    callback = new URL(await visitor.logInAt(await visitor.start('github'), '1'));
    await visitor.get(callback.href);
    // The service sends the recorded spans before the process ends.
    await service.end();
  });
  afterAll(async () => {
    await testStore.remove();
    await Promise.all([receiver.stop(), github.stop()]);
  });

  it('has its packages by the command before it', () => {
    expect(PAGE).toContain('npm ci --ignore-scripts --prefix deploy/tracing\nOTEL_');
  });

  it('sends the span of a request, and those of its statements on PostgreSQL below it', () => {
    const request = serverSpanOf(registration);

    expect(request).toMatchObject({
      parentSpanId: registration.span,
      name: 'POST /auth/register',
      attributes: { 'http.route': '/auth/register', 'http.response.status_code': 201 },
    });
    expect(below(request)).toContainEqual(
      expect.objectContaining({
        name: 'INSERT',
        kind: CLIENT,
        attributes: expect.objectContaining({
          'db.system.name': 'postgresql',
          'db.query.text': expect.stringMatching(/INSERT INTO "?accounts.*\$1/s),
        }),
      }),
    );
    expect(receiver.resources[0]).toMatchObject({ 'service.name': NAME });
  });

  it('sends no query, path, body or message of an error', () => {
    const { code, state } = Object.fromEntries(callback.searchParams);
    const request = receiver.spans.find(({ name }) => name === 'GET /auth/social/:provider/callback');
    const sent = receiver.bodies.join('\n');

    expect(request).toMatchObject({ kind: SERVER, attributes: { 'http.request.method': 'GET' } });
    expect(serverSpanOf(failure).kind).toBe(SERVER);
    expect(receiver.of(invalid.id).map(({ name }) => name)).toContain('graphql.validate');
    expect([code, state]).toEqual([expect.any(String), expect.any(String)]);
    for (const value of [code!, state!, SECRET, PASSWORD, 'ada@example', 'url.query', '?'])
      expect(sent.includes(value) ? value : 'absent').toBe('absent');
  });

  it('sends the span of a GraphQL operation', () => {
    expect(below(serverSpanOf(query)).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['graphql.parse', 'graphql.validate', 'query Ours']),
    );
  });

  it('sends the spans of calls by fetch', () => {
    const request = receiver.spans.find(({ name }) => name === 'GET /auth/social/:provider/callback')!;
    const port = Number(new URL(github.settings['GITHUB_URL']!).port);

    expect(below(request).filter(({ attributes }) => attributes['server.port'] === port)).toContainEqual(
      expect.objectContaining({ kind: CLIENT, name: 'POST' }),
    );
  });

  it('sends the spans of calls by node:http, as an ES module imports it', () => {
    const span = below(serverSpanOf(call)).find(
      ({ attributes }) => attributes['server.port'] === receiver.port,
    );

    expect(span).toMatchObject({ name: 'POST', kind: CLIENT });
    expect(receiver.traceparents.slice(1)).toEqual([`00-${call.id}-${span!.spanId}-01`]);
  });

  it('sends no trace of work at the start and in the background, whose calls get none', () => {
    const roots = receiver.spans.filter(({ parentSpanId }) => !parentSpanId);

    expect(new Set(roots.map(({ kind }) => kind))).toEqual(new Set([SERVER]));
    expect(receiver.traceparents[0]).toBeUndefined();
  });

  it('names the trace in every line of a request in the log', () => {
    const lines = service.log.filter(({ requestId }) => requestId !== undefined);
    const spans = new Set(receiver.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));

    expect(lines.length).toBeGreaterThanOrEqual(6);
    for (const line of lines) expect(spans).toContain(`${line['trace_id']} ${line['span_id']}`);
  });

  it('stops in time while the collector is unavailable', async () => {
    service = await start(`http://127.0.0.1:${await freePort()}`);

    expect((await post('/graphql', { query: '{ __typename }' })).status).toBe(200);
    const { code, milliseconds } = await service.end();
    expect(code).toBe(0);
    expect(milliseconds).toBeLessThan(5000);
  });
});
