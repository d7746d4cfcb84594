import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { beforeAll, expect, it, jest } from '@jest/globals';
import { Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import { Public } from '../src/platform/access/index.js';
import { Queries } from '../src/platform/database/queries.js';
import { OnDurableEvent, Subscribers } from '../src/platform/changes/index.js';
import { MetricsServer } from '../src/platform/operations/metrics-server.js';
import { startApi } from './support/api.js';
import { onlyFake } from './support/fake-timers.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { planOf, scrape } from './support/scrape.js';
import { until } from './support/until.js';

let isFailing = false;
let gate = Promise.withResolvers<void>();

@Injectable()
class Watcher {
  @OnDurableEvent({ name: 'watcher', types: ['dummy.updated', 'dummy.deleted'] })
  watch(): void {
    if (isFailing) throw new Error('Not now');
  }
}

@Controller()
@Public()
class SlowController {
  constructor(private readonly queries: Queries) {}

  @Get('slow')
  read() {
    return this.queries.search(
      this.queries.dialect.name === 'sqlite'
        ? 'WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 1e7) SELECT max(n) FROM n'
        : 'SELECT pg_sleep(2)',
    );
  }

  @Post('held')
  async hold() {
    await gate.promise;
    return {};
  }
}

@Module({ controllers: [SlowController], providers: [Watcher] })
class MeasuredModule {}

const SETTINGS = { METRICS_PORT: '0', TRUST_PROXY: '127.0.0.1' };
onEach('metrics', { settings: SETTINGS, modules: [MeasuredModule, FixtureModule] }, ({ api, store }) => {
  let url: string;
  beforeAll(async () => {
    // An injected request has no connection whose close could end a stream.
    url = await api.listen();
  });

  const requests = async (method: string, route: string, status: string) =>
    (await scrape(api)).get(
      `http_server_request_duration_seconds_count{http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"}`,
    ) ?? 0;

  it('are served on a separate port only', async () => {
    expect(await api.get('/metrics')).toBeError('NOT_FOUND');
    const own = api.app.get(MetricsServer).url!;
    expect((await fetch(new URL('/', own))).status).toBe(404);
    expect((await fetch(own, { method: 'POST' })).status).toBe(404);
    expect((await fetch(own, { method: 'HEAD' })).status).toBe(200);
  });

  it('count requests by method, route and status, with bounded labels for arbitrary input', async () => {
    const send = (path: string, init?: RequestInit) => fetch(url + path, init).then((reply) => reply.text());
    await send('/v1/dummies', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text": "T"}',
    });
    await send('/v1/dummies/1');
    await send('/v1/dummies/999?q=x');
    for (let n = 0; n < 20; n++) await send(`/nowhere/${randomUUID()}`);
    await send('/v1/dummies', { method: 'PROPFIND' });

    await until('all are counted', async () => (await requests('_OTHER', '', '405')) === 1);
    expect(await requests('POST', '/v1/dummies', '201')).toBe(1);
    expect(await requests('GET', '/v1/dummies/:id', '200')).toBe(1);
    expect(await requests('GET', '/v1/dummies/:id', '404')).toBe(1);
    expect(await requests('GET', '', '404')).toBeGreaterThanOrEqual(20);
    const sum = (labels: string) => `http_server_request_duration_seconds_sum{${labels}}`;
    const route = 'http_request_method="GET",http_route="/v1/dummies/:id",http_response_status_code="200"';
    expect((await scrape(api)).get(sum(route))).toBeGreaterThan(0);
    expect([...(await scrape(api)).keys()].filter((name) => /nowhere|PROPFIND/.test(name))).toEqual([]);
  });

  it('count GraphQL operations by type, including those that are not executed', async () => {
    await api.graphql('query Ours { dummies { nodes { id } } }');
    await api.graphql('mutation { updateDummy(id: "999", input: { text: "X" }) { id } }');
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

  it('describe the process: event loop, heap, garbage collection', async () => {
    const samples = await scrape(api);

    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'process_resident_memory_bytes',
      'process_cpu_user_seconds_total',
    ]) {
      expect(samples.get(name)).toBeGreaterThan(0);
    }
    // The metric has samples only after the first collection.
    const response = await fetch(api.app.get(MetricsServer).url!);
    expect(await response.text()).toContain('# TYPE nodejs_gc_duration_seconds histogram');
  });

  it('count idempotent replays', async () => {
    const create = () => api.post('/v1/stubs', { item: 'Tea' }, { 'idempotency-key': 'metrics' });
    const before = (await scrape(api)).get('idempotency_replays_total') ?? 0;
    await create();
    await create();
    await create();

    const samples = await scrape(api);
    expect(samples.get('idempotency_replays_total')).toBe(before + 2);
  });

  it('count throttled logins, and security events', async () => {
    const logIn = () => api.post('/auth/login/', { email: 'nobody@example.com', password: 'wrong' });
    for (let n = 0; n < 20; n++) await logIn();
    expect(await logIn()).toBeError('RATE_LIMITED');

    const samples = await scrape(api);
    expect(samples.get('login_throttled_total{limit="pair"}')).toBe(1);
    expect(samples.get('security_events_total{event="login_failed"}')).toBe(20);
  });

  it('report the number and age of queued mails', async () => {
    const waiting = `INSERT INTO mails (id, kind, owner, data, attempts, next_attempt_at, created_at)
      VALUES (:id, 'unknown', 'x', '{}', 0, :later, :recorded)`;
    await api.rows.execute(waiting, {
      id: randomUUID(),
      later: new Date(Date.now() + 3600_000).toISOString(),
      recorded: new Date(Date.now() - 600_000).toISOString(),
    });

    const samples = await scrape(api);
    expect(samples.get('mail_outbox_mails')).toBe(1);
    expect(samples.get('mail_outbox_oldest_age_seconds')).toBeGreaterThanOrEqual(600);
    expect(samples.get('mail_outbox_oldest_age_seconds')).toBeLessThan(3600);
  });

  it('report the lag of a subscriber by the events of its types, and its failed attempts', async () => {
    const dummy = async (name: string) =>
      (await scrape(api)).get(`event_subscriber_${name}{subscriber="watcher"}`);
    const { id } = await api.dummies.create();
    expect(await dummy('lag_seconds')).toBe(0);

    isFailing = true;
    await api.patch(`/v1/dummies/${id}`, {});
    await until('it has failed', async () => (await dummy('failed_attempts'))! >= 1);
    api.moveClock(600_000);
    expect(await dummy('lag_seconds')).toBeGreaterThanOrEqual(500);

    isFailing = false;
    // An attempt that began before may still fail, and come again later.
    await until('it has caught up', async () => {
      api.advanceClock(60_000);
      return (await dummy('lag_seconds')) === 0;
    });
    expect(await dummy('failed_attempts')).toBe(0);
    api.moveClock(0);
    expect([...(await scrape(api)).keys()].filter((name) => name.includes('subscriber="'))).toHaveLength(
      2 * api.app.get(Subscribers, { strict: false }).subscriptions.size,
    );
  });

  it('report how long an event has waited for its position', async () => {
    const age = async () => (await scrape(api)).get('event_log_unnumbered_age_seconds');
    expect(await age()).toBe(0);
    if (store === 'SQLite') return;

    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = api.rows.run(async () => {
      await api.rows.execute('SELECT 1 FROM event_log FOR UPDATE');
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    await api.dummies.create();
    api.moveClock(600_000);
    expect(await age()).toBeGreaterThanOrEqual(500);
    api.moveClock(0);
    release.resolve();
    await lock;
    await until('it has its position', async () => (await age()) === 0);
  });

  it('report the slow reads that wait', async () => {
    const search = async (name: string, state = '') =>
      (await scrape(api)).get(`db_client_connections${name}{pool_name="search"${state}}`)!;
    const max = await search('_max');
    const reads = Array.from({ length: max + 2 }, () => api.getOnly('/slow'));

    await until('all connections are in use, and two reads wait', async () => {
      return (await search('', ',state="used"')) === max && (await search('_pending_requests')) === 2;
    });
    await Promise.all(reads);
    expect(await search('_pending_requests')).toBe(0);
    expect(await search('', ',state="used"')).toBe(0);
  });

  const bodies = async (state: string) => (await scrape(api)).get(`http_server_large_bodies_${state}`)!;

  /** Sends a large body to a handler that waits for the gate. */
  const sendLarge = (address = '192.0.2.1') => {
    const body = JSON.stringify({ text: 'x'.repeat(70_000) });
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      'x-forwarded-for': address,
    };
    return httpRequest(`${url}/held`, { method: 'POST', agent: false, headers }).end(body);
  };

  it('report the large bodies in progress and those that wait', async () => {
    const replies = Array.from({ length: 5 }, async () => {
      const [response] = await once(sendLarge(), 'response');
      response.resume();
    });

    await until('some run and some wait', async () => {
      return (await bodies('running')) >= 2 && (await bodies('running')) + (await bodies('waiting')) === 5;
    });
    expect(await bodies('waiting')).toBeGreaterThan(0);
    expect(await bodies('capacity')).toBe(64);
    gate.resolve();
    await Promise.all(replies);
    gate = Promise.withResolvers();
    expect(await bodies('running')).toBe(0);
  });

  it('are 503 when too many large bodies wait, a quarter of which may be of one client', async () => {
    const send = async (address: string) => {
      const [response] = (await once(sendLarge(address), 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    const untilWaiting = (count: number) =>
      until(`${count} wait`, async () => (await bodies('waiting')) === count);
    const accepted = [send('192.0.2.1')];
    const fill = async (address: string, count: number) => {
      // In few steps, because a body waits for ten seconds at most.
      for (;;) {
        const missing = count - (await bodies('waiting'));
        if (missing === 0) return;
        accepted.push(...Array.from({ length: missing }, () => send(address)));
        const sent = accepted.length;
        await until(
          'they have arrived',
          async () => (await bodies('running')) + (await bodies('waiting')) === sent,
        );
      }
    };
    await fill('192.0.2.1', 16);
    expect(await send('192.0.2.1')).toBe(503);
    for (const [n, count] of [32, 48, 64].entries()) await fill(`192.0.2.${n + 2}`, count);
    expect(await send('192.0.2.5')).toBe(503);

    gate.resolve();
    expect(new Set(await Promise.all(accepted))).toEqual(new Set([201]));
    gate = Promise.withResolvers();
    await untilWaiting(0);
  });

  it('are 503 when a large body waits for ten seconds', async () => {
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
    const sent: ClientRequest[] = [];
    while ((await bodies('waiting')) === 0) {
      sent.push(sendLarge());
      const isThere = async () => (await bodies('running')) + (await bodies('waiting')) === sent.length;
      while (!(await isThere())) await new Promise(setImmediate);
    }
    const last = once(sent.at(-1)!, 'response') as Promise<[IncomingMessage]>;
    jest.advanceTimersByTime(9999);
    expect(await bodies('waiting')).toBe(1);
    jest.advanceTimersByTime(1);
    jest.useRealTimers();

    expect((await last)[0].statusCode).toBe(503);
    gate.resolve();
    for (const request of sent.slice(0, -1)) {
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(201);
    }
    gate = Promise.withResolvers();
    expect(await bodies('waiting')).toBe(0);
  });

  it('count a large body until its handler ends, also if the client has disconnected', async () => {
    const sent: ClientRequest[] = [];
    while ((await bodies('waiting')) === 0) {
      sent.push(sendLarge().on('error', () => undefined));
      await until('it has arrived', async () => {
        return (await bodies('running')) + (await bodies('waiting')) === sent.length;
      });
    }
    for (const request of sent) request.destroy();

    await until('the disconnected client no longer waits', async () => (await bodies('waiting')) === 0);
    expect(await bodies('running')).toBe(sent.length - 1);
    gate.resolve();
    gate = Promise.withResolvers();
    await until('the handlers have ended', async () => (await bodies('running')) === 0);
    expect(await bodies('waiting')).toBe(0);
  });

  it('count a large body for 30 seconds after its client has disconnected, if its handler never ends', async () => {
    const connection = once(api.app.getHttpServer(), 'connection') as Promise<[Socket]>;
    const request = sendLarge().on('error', () => undefined);
    const [socket] = await connection;
    await until('it is being handled', async () => (await bodies('running')) === 1);
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
    request.destroy();
    await once(socket, 'close');

    jest.advanceTimersByTime(29_999);
    expect(await bodies('running')).toBe(1);
    jest.advanceTimersByTime(1);
    expect(await bodies('running')).toBe(0);

    jest.useRealTimers();
    gate.resolve();
    gate = Promise.withResolvers();
  });

  it('read few index entries, whatever the length of the queue of mails', async () => {
    expect(await planOf(api, 'SELECT min(created_at) FROM mails')).toContain('mails_created_at');
  });

  it('report waiting for a connection or for other writes', async () => {
    const pool = store === 'SQLite' ? 'writer' : 'main';
    const dummy = async (name: string, state = '') =>
      (await scrape(api)).get(`db_client_connections${name}{pool_name="${pool}"${state}}`);
    const max = (await dummy('_max'))!;
    const release = Promise.withResolvers<void>();
    const held = Array.from({ length: max }, () => api.rows.run(() => release.promise));
    const waiting = Array.from({ length: 3 }, () => api.rows.run(async () => undefined));

    await until('all connections are in use', async () => (await dummy('', ',state="used"')) === max);
    // Queries of the service itself may wait, too.
    await until('three wait', async () => (await dummy('_pending_requests'))! >= 3);
    release.resolve();
    await Promise.all([...held, ...waiting]);
    await until('none waits', async () => (await dummy('_pending_requests')) === 0);
    // How long a write waits is measured on SQLite only.
    const measured = (await dummy('_wait_time_seconds_count')) ?? 0;
    expect(measured).toBeGreaterThanOrEqual(store === 'SQLite' ? 4 : 0);
  });

  it('are served without the values that a missing table prevents', async () => {
    const other = await startApi(store, { METRICS_PORT: '0' }, [FixtureModule]);
    expect((await scrape(other)).get('service_ready')).toBe(1);
    await other.rows.execute('ALTER TABLE mails RENAME TO gone');

    const samples = await scrape(other);
    expect(samples.has('mail_outbox_mails')).toBe(false);
    expect(samples.get('service_ready')).toBe(0);
    expect(samples.has('process_resident_memory_bytes')).toBe(true);
    await other.stop();
  });

  it('are off by default, and no port is open', async () => {
    const other = await startApi(store);

    expect(other.app.get(MetricsServer).url).toBeUndefined();
    await other.stop();
  });
});
