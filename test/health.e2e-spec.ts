import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('health on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  it('is ok while the process serves', async () => {
    const reply = await api.get('/health');

    expect(reply).toHaveStatus(200);
    expect(reply.text).toBe('{"status":"ok"}');
  });

  it('is ready when the database is there with its migrations', async () => {
    expect(await api.get('/health/ready')).toHaveStatus(200);
  });
});

describe.each(STORES)('health on %s without migrations', (store) => {
  it('is ok, and not ready', async () => {
    const api = await startApi(store, { MIGRATE: 'off' });

    expect(await api.get('/health')).toHaveStatus(200);
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['migrations']);
    await api.stop();
  });
});
