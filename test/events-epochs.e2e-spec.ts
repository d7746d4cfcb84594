import { describe, expect, it } from '@jest/globals';
import { createApp } from '../src/app.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { Database } from '../src/platform/database/database.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { EventAppender, eventAppender } from '../src/platform/changes/index.js';
import { startApi, TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { createStore } from './support/stores.js';
import { TcpProxy } from './support/tcp-proxy.js';
import { until } from './support/until.js';

onEach('a new epoch', { modules: [FixtureModule] }, ({ api }) => {
  it('gives later events other ids, and keeps earlier ids valid', async () => {
    await api.dummies.create();
    await api.dummies.create();
    const before = (await api.get('/v1/events')).body.data.map(({ id }: any) => id);
    await api.app.get(EventAppender, { strict: false }).renewEpoch();
    await api.dummies.create();

    const { data } = (await api.get(`/v1/events?cursor=${before[0]}`)).body;
    expect(data.map(({ id }: any) => id)).toEqual([
      before[1],
      expect.not.stringMatching(before[0].split('-')[0]),
    ]);
    expect(Number(data[1].id.split('-')[1])).toBeGreaterThan(Number(before[1].split('-')[1]));
    // As after a failover that lost this event: the id belongs to the previous epoch.
    expect(
      await api.get(`/v1/events?cursor=${before[0].split('-')[0]}-${data[1].id.split('-')[1]}`),
    ).toBeError('EVENTS_EXPIRED');
  });
});

describe('after a change of the database server', () => {
  it('a new epoch starts automatically', async () => {
    const api = await startApi('PostgreSQL', {}, [FixtureModule]);
    await api.dummies.create();
    const [before] = (await api.get('/v1/events')).body.data;
    // As in a database that was restored on another server.
    await api.rows.execute("UPDATE event_log SET server = 'another'");
    await api.dummies.create();

    const [, after] = (await api.get('/v1/events')).body.data;
    expect(after.id.split('-')[0]).not.toBe(before.id.split('-')[0]);
    await api.stop();
  });
});

describe('the identity of the database server', () => {
  const epochs = async (api: TestApi) =>
    (await api.get('/v1/events')).body.data.map(({ id }: any) => id.split('-')[0]);

  it('is read again after an outage, so that replicas agree and no epoch starts', async () => {
    const store = await createStore('PostgreSQL');
    const { proxy, url } = await TcpProxy.to(store.environment['DATABASE_URL']!);
    const config = loadConfig({
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      ...store.environment,
      DATABASE_URL: url,
    });
    const api = new TestApi({
      app: await createApp(config, { modules: [FixtureModule] }),
      config,
      removeStore: () => store.remove(),
    });
    await api.dummies.create();
    const { queries } = api.app.get(Database);
    const replica = eventAppender(queries, api.app.get(Transactions));
    await proxy.cut();
    await expect(replica.open()).rejects.toThrow(Error);
    await proxy.restore();

    await until('the database is back', () =>
      replica.number().then(
        () => true,
        () => false,
      ),
    );
    await until('a dummy is created', async () => (await api.dummies.create()) !== undefined);
    const [first, ...others] = await epochs(api);
    expect(new Set(others)).toEqual(new Set([first]));
    await api.stop();
    await proxy.close();
  });

  it('may be unreadable: events continue, and a command starts a new epoch', async () => {
    const api = await startApi('PostgreSQL', {}, [FixtureModule]);
    await api.dummies.create();
    await epochs(api);
    await api.rows.execute('ALTER FUNCTION pg_catalog.pg_control_system() RENAME TO pg_control_gone');
    await api.restart();
    await api.dummies.create();
    // An event gets its epoch when it is numbered, and reading numbers it.
    await epochs(api);
    const { queries } = api.app.get(Database);
    await eventAppender(queries, api.app.get(Transactions)).renewEpoch();
    await api.dummies.create();

    expect(new Set(await epochs(api)).size).toBe(3);
    await api.stop();
  });
});
