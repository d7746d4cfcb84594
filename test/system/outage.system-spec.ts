import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, it } from '@jest/globals';
import { Service } from '../support/service.js';
import { createStore } from '../support/stores.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

describe('an outage of PostgreSQL', () => {
  it.each([
    ['cut', (proxy: TcpProxy) => proxy.cut()],
    ['silent', async (proxy: TcpProxy) => proxy.silence()],
  ])('(%s) causes 503 within five seconds, and the service recovers', async (_, lose) => {
    const store = await createStore('PostgreSQL');
    const { proxy, url } = await TcpProxy.to(store.environment['DATABASE_URL']!);
    const service = await Service.withFixture({ ...store.environment, DATABASE_URL: url });
    await service.create();
    // Longer than a connection may be silent, so that idle connections also have to detect the outage.
    await sleep(3000);

    await lose(proxy);
    for (const request of [
      () => service.fetch('/v1/dummies'),
      () => service.fetch('/v1/dummies/1'),
      () => service.create(),
      () =>
        service.fetch('/v1/dummies/1', {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        }),
      () => service.fetch('/v1/dummies/1', { method: 'DELETE' }),
      () => service.fetch('/health/ready'),
    ]) {
      const start = Date.now();
      const reply = await request();
      expect(Date.now() - start).toBeLessThan(5000);
      expect(reply.status).toBe(503);
      expect(reply.headers.get('retry-after')).toBe('5');
      expect(await reply.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
    }
    expect((await service.fetch('/health')).status).toBe(200);

    await proxy.restore();
    const deadline = Date.now() + 10_000;
    let status = 503;
    while (status === 503 && Date.now() < deadline) ({ status } = await service.create());
    expect(status).toBe(201);
    for (let n = 0; n < 20; n++) expect((await service.fetch('/v1/dummies/1')).status).toBe(200);
    expect((await service.fetch('/health/ready')).status).toBe(200);

    await service.end();
    await proxy.close();
    await store.remove();
  });

  it('delays the start of the service until the database is available', async () => {
    const store = await createStore('PostgreSQL');
    const { proxy, url } = await TcpProxy.to(store.environment['DATABASE_URL']!);
    await proxy.cut();
    const starting = Service.withFixture({ ...store.environment, DATABASE_URL: url });
    await sleep(1500);
    await proxy.restore();

    const service = await starting;
    expect((await service.create()).status).toBe(201);
    await service.end();
    await proxy.close();
    await store.remove();
  });

  it('of connections at the moment they open does not end the process', async () => {
    const store = await createStore('PostgreSQL');
    const server = new Client(store.environment['DATABASE_URL']);
    await server.connect();
    const others = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    const { proxy, url } = await TcpProxy.to(store.environment['DATABASE_URL']!);
    const service = await Service.withFixture({ ...store.environment, DATABASE_URL: url });
    proxy.holdConnections();
    await server.query(`SELECT pg_terminate_backend(pid) ${others}`);
    // A read awaits a connection before it has a statement. It gives up after two seconds, which may be too few
    // for a busy machine to open the connections, so each is repeated until they are open.
    let areOpen = false;
    const read = async () => {
      for (;;) {
        const { status } = await service.fetch('/v1/dummies/1');
        if (areOpen || status !== 503) return status;
      }
    };
    const reads = Array.from({ length: 10 }, read);
    await until('connections are open', async () => {
      const { rows } = await server.query(`SELECT 1 ${others} AND state = 'idle'`);
      return rows.length >= 6;
    });
    areOpen = true;

    await server.query(`SELECT pg_terminate_backend(pid) ${others}`);
    await proxy.releaseEndedConnections();
    // A read that was still waiting for a connection gets a new one.
    const statuses = new Set(await Promise.all(reads));
    expect([[503], [503, 404], [404, 503]]).toContainEqual([...statuses]);
    await until('writes are accepted', async () => (await service.create()).status === 201);

    await service.end();
    await server.end();
    await proxy.close();
    await store.remove();
  });
});
