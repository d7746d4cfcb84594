import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Purger } from '../src/platform/jobs/purger.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';

const DAY = 24 * 60 * 60_000;

describe.each(STORES)('the records of idempotent requests on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, { IDEMPOTENCY_MAX_MB: '1' }, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const create = (text: string, key: string = randomUUID()) =>
    api.post('/v1/samples', { text }, { 'idempotency-key': key });
  const one = async <Row>(sql: string) => (await api.rows.one<Row>(sql))!;
  const kept = async () =>
    (await one<{ n: number }>('SELECT CAST(sum(bytes) AS bigint) AS n FROM idempotency_usage')).n;
  const counted = async () =>
    (await one<{ n: number }>('SELECT CAST(sum(size) AS bigint) AS n FROM idempotency_records')).n;

  it('are compressed, and replayed unchanged', async () => {
    const text = 'Some words, ‘quoted’ and repeated 😀. '.repeat(10_000);

    const first = await create(text, 'compressed');
    const second = await create(text, 'compressed');

    expect(first).toHaveStatus(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    const { stored } = await one<{ stored: number }>(
      'SELECT length(body) AS stored FROM idempotency_records',
    );
    expect(stored).toBeLessThan(text.length / 20);
  });

  it('are counted exactly by the database, also during concurrent creation and purge', async () => {
    const creations = Array.from({ length: 30 }, (_, n) => create('x'.repeat(100 * n + 1)));
    const purges = Array.from({ length: 5 }, () => api.app.get(Purger).purge());
    await Promise.all([...creations, ...purges]);

    expect(await kept()).toBe(await counted());
    api.moveClock(DAY + 1000);
    await api.app.get(Purger).purge();
    expect(await kept()).toBe(0);
    api.moveClock(0);
  });

  it('reject new keys with 503 when their space is used up, until records expire', async () => {
    const random = () => randomBytes(300_000).toString('base64');
    const first = random();
    expect(await create(first, 'first')).toHaveStatus(201);
    await until('the space for responses is used up', async () => (await create(random())).status === 503);

    const rejected = await create('short');
    expect(rejected).toBeError('SERVICE_UNAVAILABLE');
    expect(rejected.headers['retry-after']).toBeDefined();
    expect((await create(first, 'first')).headers['idempotent-replayed']).toBe('true');
    expect(await api.post('/v1/samples', { text: 'No key' })).toHaveStatus(201);
    expect(await kept()).toBeLessThan(2 * 1024 * 1024);

    api.moveClock(DAY + 1000);
    await api.app.get(Purger).purge();
    await until('expired responses are removed', async () => (await create('short')).status === 201);
    api.moveClock(0);
  });
});
