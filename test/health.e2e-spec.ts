import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type Connection from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import type { SqliteStore } from '../src/platform/config/config.js';
import { Drain } from '../src/platform/operations/drain.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE, ifEmbedded, type StoreName, STORES } from './support/stores.js';
import { until } from './support/until.js';

describe.each(STORES)('health on %s without migrations', (store) => {
  it('is ok, but not ready', async () => {
    const api = await startApi(store, { MIGRATE: 'off' });

    expect(await api.get('/health')).toHaveStatus(200);
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['migrations']);
    await api.stop();
  });

  it('rejects other requests with an error that pages of other origins can read', async () => {
    const api = await startApi(store, { MIGRATE: 'off' });
    const origin = 'https://app.example.com';

    const preflight = await api.send({
      method: 'OPTIONS',
      url: '/v1/audit',
      headers: { origin, 'access-control-request-method': 'PATCH' },
    });
    expect(preflight).toHaveStatus(204);
    const reply = await api.get('/v1/audit', { origin });
    expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    await api.stop();
  });
});

it('a process that drains is healthy, and not ready', async () => {
  const api = await startApi(ANY_STORE);
  api.app.get(Drain, { strict: false }).begin();

  expect(await api.get('/health')).toHaveStatus(200);
  expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['draining']);
  await api.stop();
});

/** Makes writes to the storage fail. @returns a function that undoes this */
async function breakStorage({ app }: TestApi, store: StoreName): Promise<() => Promise<void>> {
  const source = app.get(DataSource);
  if (store === 'SQLite') {
    const connection = (source.driver as BetterSqlite3Driver).databaseConnection as Connection.Database;
    const unlimited = connection.pragma('max_page_count', { simple: true }) as number;
    connection.pragma('max_page_count = 1');
    return async () => {
      connection.pragma(`max_page_count = ${unlimited}`);
    };
  }
  const [{ name }] = await source.query('SELECT current_database() AS name');
  const set = async (mode: 'on' | 'off') => {
    // An explicit READ WRITE transaction may write even if the default is read-only.
    await source.query(
      `BEGIN READ WRITE; ALTER DATABASE "${name}" SET default_transaction_read_only = ${mode}; COMMIT`,
    );
    await source
      .query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()`,
        [name],
      )
      .catch(() => undefined);
    await source.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  };
  await set('on');
  return () => set('off');
}

onEach('a disk that rejects writes', { modules: [FixtureModule] }, ({ api, store }) => {
  it('makes writes return 503 and /health/ready report it, until writes succeed again', async () => {
    const dummy = await api.dummies.create();
    await api.accounts.register('ada@example.com');
    const { access } = await api.accounts.login('ada@example.com');
    const large = { text: 'x'.repeat(100_000) };
    const repair = await breakStorage(api, store);

    for (const reply of [
      await api.post('/v1/dummies', large),
      await api.post('/v1/dummies', large, { 'idempotency-key': 'k' }),
      await api.patch(`/v1/dummies/${dummy.id}`, large),
      await api.post('/v1/stubs', { text: 'x'.repeat(50_000) }, { 'idempotency-key': 'k' }),
    ]) {
      expect(reply).toBeError('SERVICE_UNAVAILABLE');
      expect(reply.headers['retry-after']).toBeDefined();
    }
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['storage']);
    expect(await api.get('/health')).toHaveStatus(200);
    expect(await api.get(`/v1/dummies/${dummy.id}`)).toHaveStatus(200);
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);

    await repair();
    await until('writes succeed', async () => (await api.post('/v1/dummies', large)).status === 201);
    await until('the service is ready', async () => (await api.get('/health/ready')).status === 200);
    expect(await api.post('/auth/login/', { email: 'ada@example.com', password: PASSWORD })).toHaveStatus(
      200,
    );
  });
});

onEach('a lost table', { modules: [FixtureModule] }, ({ api }) => {
  beforeAll(async () => {
    await api.dummies.create();
  });

  it.each([
    ['of an entity', 'dummies'],
    ['without an entity', 'events'],
  ])('makes requests 503, and the service unready, until it is restored: one %s', async (_, table) => {
    expect(await api.get('/health/ready')).toHaveStatus(200);
    await api.rows.execute(`ALTER TABLE ${table} RENAME TO away`);

    expect(await api.post('/v1/dummies', { text: 'T' })).toBeError('SERVICE_UNAVAILABLE');
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['database']);

    await api.rows.execute(`ALTER TABLE away RENAME TO ${table}`);
    expect(await api.get('/health/ready')).toHaveStatus(200);
    expect(await api.post('/v1/dummies', { text: 'T' })).toHaveStatus(201);
  });

  it('is no fault if no request needs it', async () => {
    await api.rows.execute('CREATE TABLE others (name text)');
    expect(await api.get('/health/ready')).toHaveStatus(200);
    await api.rows.execute('DROP TABLE others');
    expect(await api.get('/health/ready')).toHaveStatus(200);
  });
});

ifEmbedded(describe)('a database file of SQLite', () => {
  const files = ['database.sqlite', 'database.sqlite-wal', 'database.sqlite-shm'];
  const folderOf = ({ config }: TestApi) => (config.store as SqliteStore).directory;

  it.each<[string, (folder: string) => void]>([
    ['deleted', (folder) => files.forEach((name) => rmSync(join(folder, name)))],
    [
      'replaced',
      (folder) => {
        copyFileSync(join(folder, 'database.sqlite'), join(folder, 'backup'));
        renameSync(join(folder, 'backup'), join(folder, 'database.sqlite'));
      },
    ],
    ['separated from its log', (folder) => rmSync(join(folder, 'database.sqlite-wal'))],
    ['moved with its folder', (folder) => renameSync(folder, `${folder}-moved`)],
  ])('that was %s under the service makes writes 503 and the service unready', async (_, move) => {
    const api = await startApi(ANY_STORE, {}, [FixtureModule]);
    const { id } = await api.dummies.create();
    expect(await api.get('/v1/dummies?q=a')).toHaveStatus(200);
    move(folderOf(api));

    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['storage']);
    for (let n = 0; n < 2; n++) {
      const replies = await Promise.all([
        api.post('/v1/dummies', { text: 'T' }),
        api.post('/v1/dummies', { text: 'T' }, { 'idempotency-key': `k${n}` }),
        api.patch(`/v1/dummies/${id}`, { text: 'Changed' }),
        api.post('/v1/stubs', {}, { 'idempotency-key': `k${n}` }),
        api.post('/auth/register/', { email: 'ada@example.com', name: 'Ada', password: PASSWORD }),
      ]);
      for (const reply of replies) expect(reply).toBeError('SERVICE_UNAVAILABLE');
      const { body } = await api.post('/graphql', { query: `mutation { deleteDummy(id: ${id}) }` });
      expect(body.errors[0].extensions.code).toBe('SERVICE_UNAVAILABLE');
    }
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['storage']);
    expect((await api.get(`/v1/dummies/${id}`)).body.data.text).toBe('Some text');
    const folder = folderOf(api);
    await api.stop();
    rmSync(`${folder}-moved`, { recursive: true, force: true });
  });

  it('that was put back is written again', async () => {
    const api = await startApi(ANY_STORE, {}, [FixtureModule]);
    const { id } = await api.dummies.create();
    const folder = folderOf(api);
    renameSync(folder, `${folder}-moved`);
    expect(await api.post('/v1/dummies', { text: 'T' })).toBeError('SERVICE_UNAVAILABLE');
    renameSync(`${folder}-moved`, folder);

    expect(await api.dummies.create()).toMatchObject({ id: id + 1 });
    await until('the service is ready', async () => (await api.get('/health/ready')).status === 200);
    await api.stop();
  });
});
