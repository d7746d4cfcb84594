import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OtlpReceiver } from './support/otlp-receiver.js';
import { Service } from './support/service.js';
import { GitHub } from './support/social/github.js';
import { siteOf, Visitor } from './support/social/visitor.js';
import { createStore, STORES, type TestStore } from './support/stores.js';

/** Kinds of spans. */
const SERVER = 2;
const CLIENT = 3;

const PUBLIC_URL = 'https://api.example.com';
const SECRET = 'hunter2';
const PASSWORD = 'correct horse';

/** The trace context that a client sends. */
class ClientTrace {
  readonly id = randomBytes(16).toString('hex');
  readonly span = randomBytes(8).toString('hex');
  readonly headers = { traceparent: `00-${this.id}-${this.span}-01` };
}

describe.each(STORES)('traces on %s', (store) => {
  const creation = new ClientTrace();
  const query = new ClientTrace();
  const invalid = new ClientTrace();
  const failure = new ClientTrace();
  const call = new ClientTrace();
  let receiver: OtlpReceiver;
  let github: GitHub;
  let testStore: TestStore;
  let service: Service;

  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    service.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    github = await GitHub.start();
    testStore = await createStore(store);
    const settings = {
      ...testStore.environment,
      ...github.settings,
      PUBLIC_URL,
      WRITE_ACCESS: 'authenticated',
      NODE_OPTIONS: '--import ./dist/tracing.js --import ./test/support/call-by-http.mjs',
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
      OTEL_SERVICE_NAME: 'tested',
      METRICS_PORT: '0',
    };
    service = await Service.withFixture(settings);
    await post('/auth/register/', { email: 'ada@example.com', name: 'Ada', password: PASSWORD });
    const login = await post('/auth/login/', { email: 'ada@example.com', password: PASSWORD });
    const { access } = (await login.json()) as { access: string };
    const authorization = `Bearer ${access}`;
    await post('/v1/samples', { text: SECRET }, { ...creation.headers, authorization });
    const document = 'query Ours { samples(first: 2) { nodes { id peers { status first { counter } } } } }';
    await post('/graphql', { query: document }, query.headers);
    await post('/graphql', { query: `{ samples(first: "${SECRET}") { nodes { id } } }` }, invalid.headers);
    await post('/v1/samples', { text: 'x'.repeat(100_000) }, { authorization });
    await (await service.fetch('/v1/samples')).text();
    await service.fetch(`/v1/samples/${SECRET}?q=${SECRET}`, { headers: failure.headers });
    await service.fetch('/v1/samples', {
      headers: { ...call.headers, 'x-call': `${receiver.url}/${SECRET}` },
    });
    const emails = [{ email: 'octo@example.com', primary: true, verified: true }];
    github.person = { id: 1, login: 'octo', name: null, emails };
    await new Visitor(siteOf(service, PUBLIC_URL)).logIn('github', '1');
    // The service sends the recorded spans before the process ends.
    await service.end();
  });
  afterAll(async () => {
    await testStore.remove();
    await Promise.all([receiver.stop(), github.stop()]);
  });

  it('show every statement of a request over REST, on PostgreSQL', () => {
    // Event and audit entry belong to the transaction of the change.
    const inserts = ['INSERT audit_entries', 'INSERT events', 'INSERT samples'];
    const statements = ['COMMIT', ...inserts, 'SELECT accounts', 'START'];
    expect(receiver.tree(creation.id)).toEqual(
      store === 'SQLite' ? 'POST /v1/samples' : ['POST /v1/samples', ...statements],
    );
  });

  it('show a GraphQL operation with a statement for each level, on PostgreSQL', () => {
    const statements = ['SELECT samples', 'SELECT samples', 'SELECT samples'];
    expect(receiver.tree(query.id)).toEqual([
      'POST /graphql',
      'graphql.parse',
      'graphql.validate',
      store === 'SQLite' ? 'query Ours' : ['query Ours', ...statements],
    ]);
    expect(receiver.of(query.id).find(({ name }) => name === 'query Ours')).toMatchObject({
      attributes: { 'graphql.operation.type': 'query', 'graphql.operation.name': 'Ours' },
    });
  });

  it('continue the trace of the client, with the route and the status', () => {
    const root = receiver.of(creation.id).find(({ kind }) => kind === SERVER);

    expect(root).toMatchObject({
      parentSpanId: creation.span,
      name: 'POST /v1/samples',
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/samples',
        'http.response.status_code': 201,
        'client.address': '127.0.0.1',
      },
    });
    expect(receiver.resources[0]).toMatchObject({ 'service.name': 'tested' });
  });

  it('begin with a request, not with work in the background or at the start', () => {
    const roots = receiver.spans.filter(({ parentSpanId }) => !parentSpanId);

    expect(new Set(roots.map(({ kind }) => kind))).toEqual(new Set([SERVER]));
  });

  it('contain the text of statements, but neither values nor other input', () => {
    const statements = receiver.of(creation.id).filter(({ name }) => name === 'INSERT samples');

    const attributes = {
      'db.system.name': 'postgresql',
      'db.query.text': expect.stringMatching(/INSERT INTO "samples"\(.*\) VALUES \(.*\$1/),
    };
    expect(statements).toMatchObject(store === 'SQLite' ? [] : [{ kind: CLIENT, attributes }]);
    expect(receiver.of(invalid.id).map(({ name }) => name)).toContain('graphql.validate');
    expect(JSON.stringify(receiver.spans)).not.toMatch(new RegExp(`${SECRET}|${PASSWORD}|ada@example`));
  });

  it('of a large page, beside metrics, cause no warning of a leak', () => {
    expect(service.output).not.toContain('MaxListenersExceededWarning');
  });

  it('show a failed request by its route', () => {
    expect(receiver.tree(failure.id)).toBe('GET /v1/samples/:id');
  });

  it('show calls to other services', () => {
    const callback = receiver.spans.find(({ name }) => name === 'GET /auth/social/:provider/callback')!;
    const calls = receiver
      .of(callback.traceId)
      .filter(
        ({ attributes }) =>
          attributes['server.port'] === Number(new URL(github.settings['GITHUB_URL']!).port),
      );

    expect(calls.map(({ name, kind }) => ({ name, kind }))).toContainEqual({ name: 'POST', kind: CLIENT });
    expect(calls.map(({ attributes }) => attributes['http.response.status_code'])).toEqual(
      calls.map(() => 200),
    );
  });

  it('show calls by node:http, which get the trace', () => {
    const span = receiver.of(call.id).find(({ attributes }) => attributes['server.port'] === receiver.port);

    expect(span).toMatchObject({ name: 'POST', kind: CLIENT });
    expect(receiver.traceparents).toEqual([`00-${call.id}-${span!.spanId}-01`]);
  });

  it('are named in every log line of a request', () => {
    const lines = service.log.filter(({ requestId }) => requestId !== undefined);
    const spans = new Set(receiver.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));

    expect(lines.length).toBeGreaterThanOrEqual(6);
    for (const line of lines) expect(spans).toContain(`${line['trace_id']} ${line['span_id']}`);
    expect(lines.map((line) => line['trace_id'])).toEqual(
      expect.arrayContaining([creation.id, query.id, failure.id]),
    );
  });
});
