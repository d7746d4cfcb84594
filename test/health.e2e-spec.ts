import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Connection from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { bearer, PASSWORD, startApi, type TestApi } from './support/api.js';
import { STORES, type StoreName } from './support/stores.js';
import { until } from './support/until.js';

describe.each(STORES)('health on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  it('is ok while the process serves requests', async () => {
    const reply = await api.get('/health');

    expect(reply).toHaveStatus(200);
    expect(reply.text).toBe('{"status":"ok"}');
  });

  it('is ready when the database is available and migrated', async () => {
    expect(await api.get('/health/ready')).toHaveStatus(200);
  });
});

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
      url: '/v1/posts',
      headers: { origin, 'access-control-request-method': 'PATCH' },
    });
    expect(preflight).toHaveStatus(204);
    const reply = await api.get('/v1/posts', { origin });
    expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    await api.stop();
  });
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

describe.each(STORES)('a disk that rejects writes on %s', (store) => {
  it('makes writes return 503 and /health/ready report it, until writes succeed again', async () => {
    const api = await startApi(store);
    const post = await api.posts.create();
    await api.accounts.register('ada@example.com');
    const { access } = await api.accounts.login('ada@example.com');
    const large = { title: 'T', content: 'x'.repeat(100_000) };
    const repair = await breakStorage(api, store);

    for (const reply of [
      await api.post('/v1/posts', large),
      await api.post('/v1/posts', large, { 'idempotency-key': 'k' }),
      await api.patch(`/v1/posts/${post.id}`, large),
      await api.post('/v1/orders', { text: 'x'.repeat(50_000) }, { 'idempotency-key': 'k' }),
    ]) {
      expect(reply).toBeError('SERVICE_UNAVAILABLE');
      expect(reply.headers['retry-after']).toBeDefined();
    }
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['storage']);
    expect(await api.get('/health')).toHaveStatus(200);
    expect(await api.get(`/v1/posts/${post.id}`)).toHaveStatus(200);
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);

    await repair();
    await until('writes succeed', async () => (await api.post('/v1/posts', large)).status === 201);
    await until('the service is ready', async () => (await api.get('/health/ready')).status === 200);
    expect(await api.post('/auth/login/', { email: 'ada@example.com', password: PASSWORD })).toHaveStatus(
      200,
    );
    await api.stop();
  });
});
