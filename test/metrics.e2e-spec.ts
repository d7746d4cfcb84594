import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Transactions } from '../src/database/transactions.js';
import { MetricsServer } from '../src/metrics/metrics-server.js';
import { startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';

/** The samples of a response in the text format of Prometheus: name with labels, and value. */
async function scrape(api: TestApi): Promise<Map<string, number>> {
  const response = await fetch(api.app.get(MetricsServer).url!);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))] as const),
  );
}

describe.each(STORES)('metrics on %s', (store) => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await startApi(store, { METRICS_PORT: '0' });
    // A request that is injected has no connection whose end could be seen.
    await api.app.listen(0, '127.0.0.1');
    url = await api.app.getUrl();
  });
  afterAll(() => api.stop());

  const requests = async (method: string, route: string, status: string) =>
    (await scrape(api)).get(
      `http_server_request_duration_seconds_count{http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"}`,
    ) ?? 0;

  it('are on a port of their own, and not on the public one', async () => {
    expect(await api.get('/metrics')).toBeError('NOT_FOUND');
    const own = api.app.get(MetricsServer).url!;
    expect((await fetch(new URL('/', own))).status).toBe(404);
    expect((await fetch(own, { method: 'POST' })).status).toBe(404);
    expect((await fetch(own, { method: 'HEAD' })).status).toBe(200);
  });

  it('count requests by method, route and status, whatever clients send', async () => {
    const ask = (path: string, init?: RequestInit) => fetch(url + path, init).then((reply) => reply.text());
    await ask('/v1/posts', { method: 'POST', body: '{"title": "T", "content": "C"}' });
    await ask('/v1/posts/1');
    await ask('/v1/posts/999?q=x');
    for (let n = 0; n < 20; n++) await ask(`/nowhere/${randomUUID()}`);
    await ask('/v1/posts', { method: 'PROPFIND' });

    await until('all are counted', async () => (await requests('_OTHER', '', '405')) === 1);
    expect(await requests('POST', '/v1/posts', '201')).toBe(1);
    expect(await requests('GET', '/v1/posts/:id', '200')).toBe(1);
    expect(await requests('GET', '/v1/posts/:id', '404')).toBe(1);
    expect(await requests('GET', '', '404')).toBeGreaterThanOrEqual(20);
    expect([...(await scrape(api)).keys()].filter((name) => /nowhere|PROPFIND/.test(name))).toEqual([]);
  });

  it('count GraphQL operations by type, and those that are not executed', async () => {
    await api.graphql('query Ours { users { id } }');
    await api.graphql('mutation { updateUser(id: "999", input: { name: "X" }) { id } }');
    await api.graphql('{ broken');

    const samples = await scrape(api);
    const count = (type: string, outcome: string) =>
      samples.get(
        `graphql_server_operation_duration_seconds_count{graphql_operation_type="${type}",outcome="${outcome}"}`,
      );
    expect(count('query', 'success')).toBe(1);
    expect(count('mutation', 'error')).toBe(1);
    expect(count('invalid', 'error')).toBe(1);
    expect([...samples.keys()].filter((name) => name.includes('Ours'))).toEqual([]);
  });

  it('tell of the process: event loop, heap, garbage collection', async () => {
    const samples = await scrape(api);

    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'process_resident_memory_bytes',
      'process_cpu_user_seconds_total',
    ]) {
      expect(samples.get(name)).toBeGreaterThan(0);
    }
    // It has samples once something was collected.
    const response = await fetch(api.app.get(MetricsServer).url!);
    expect(await response.text()).toContain('# TYPE nodejs_gc_duration_seconds histogram');
  });

  it('count replays of idempotent requests, and the size of what is kept for them', async () => {
    const order = () => api.post('/v1/orders', { item: 'Tea' }, { 'idempotency-key': 'metrics' });
    const before = (await scrape(api)).get('idempotency_replays_total') ?? 0;
    await order();
    await order();
    await order();

    const samples = await scrape(api);
    expect(samples.get('idempotency_replays_total')).toBe(before + 2);
    expect(samples.get('idempotency_records_bytes')).toBeGreaterThan(0);
    expect(samples.get('idempotency_records_max_bytes')).toBe(1024 ** 3);
  });

  it('count logins that are throttled', async () => {
    const logIn = () => api.post('/auth/login/', { email: 'nobody@example.com', password: 'wrong' });
    for (let n = 0; n < 20; n++) await logIn();
    expect(await logIn()).toBeError('RATE_LIMITED');

    expect((await scrape(api)).get('login_throttled_total{limit="pair"}')).toBe(1);
  });

  it('show the mails that wait, and for how long', async () => {
    const waiting = `INSERT INTO mails (id, kind, owner, data, attempts, next_attempt_at, created_at)
      VALUES (:id, 'unknown', 'x', '{}', 0, :later, :recorded)`;
    await api.app.get(Transactions).execute(waiting, {
      id: randomUUID(),
      later: new Date(Date.now() + 3600_000).toISOString(),
      recorded: new Date(Date.now() - 600_000).toISOString(),
    });

    const samples = await scrape(api);
    expect(samples.get('mail_outbox_mails')).toBe(1);
    expect(samples.get('mail_outbox_oldest_age_seconds')).toBeGreaterThanOrEqual(600);
    expect(samples.get('mail_outbox_oldest_age_seconds')).toBeLessThan(3600);
  });

  it('show who waits for a connection, or for a turn to write', async () => {
    const pool = store === 'SQLite' ? 'writer' : 'main';
    const sample = async (name: string, state = '') =>
      (await scrape(api)).get(`db_client_connections${name}{pool_name="${pool}"${state}}`);
    const max = (await sample('_max'))!;
    const release = Promise.withResolvers<void>();
    const transactions = api.app.get(Transactions);
    const held = Array.from({ length: max }, () => transactions.run(() => release.promise));
    const waiting = Array.from({ length: 3 }, () => transactions.run(async () => undefined));

    await until('all are taken', async () => (await sample('', ',state="used"')) === max);
    // The service itself may wait with them.
    await until('three wait', async () => (await sample('_pending_requests'))! >= 3);
    release.resolve();
    await Promise.all([...held, ...waiting]);
    await until('none waits', async () => (await sample('_pending_requests')) === 0);
    expect((await sample('_wait_time_seconds_count')) ?? 0).toBeGreaterThanOrEqual(
      store === 'SQLite' ? 4 : 0,
    );
  });

  it('are served while the database lacks a table, without what cannot be known', async () => {
    const other = await startApi(store, { METRICS_PORT: '0' });
    expect((await scrape(other)).get('service_ready')).toBe(1);
    await other.app.get(Transactions).execute('ALTER TABLE mails RENAME TO gone');

    const samples = await scrape(other);
    expect(samples.has('mail_outbox_mails')).toBe(false);
    expect(samples.get('service_ready')).toBe(0);
    expect(samples.has('process_resident_memory_bytes')).toBe(true);
    await other.stop();
  });

  it('are off by default, and then nothing listens', async () => {
    const other = await startApi(store);

    expect(other.app.get(MetricsServer).url).toBeUndefined();
    await other.stop();
  });
});
