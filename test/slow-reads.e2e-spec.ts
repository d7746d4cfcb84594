import { expect, it } from '@jest/globals';
import { EndlessModule } from './support/endless.module.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';

const SLOW = { settings: { TRUST_PROXY: '127.0.0.1' }, modules: [EndlessModule, FixtureModule] };
onEach('slow reads', SLOW, ({ api }) => {
  it('end with 503 after their deadline or when too many wait, and do not block other requests', async () => {
    const { id } = await api.dummies.create();
    let ended = 0;
    // Without the HEAD of each, which would begin when they have ended.
    const slow = Array.from({ length: 80 }, () =>
      api.getOnly('/endless').then((reply) => {
        ended++;
        return reply;
      }),
    );

    expect(await api.get('/health/ready')).toHaveStatus(200);
    expect(await api.get(`/v1/dummies/${id}`)).toHaveStatus(200);
    expect(await api.get('/v1/dummies')).toHaveStatus(200);
    expect((await api.get('/v1/dummies?status=open')).body.meta.total).toBe(1);
    expect(await api.get('/v1/events')).toHaveStatus(200);
    expect(await api.patch(`/v1/dummies/${id}`, { text: 'Changed' })).toHaveStatus(200);
    expect(ended).toBeLessThan(80);

    expect(await api.getOnly('/endless/short')).toBeError('SERVICE_UNAVAILABLE');

    for (const reply of await Promise.all(slow)) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect((await api.get('/v1/dummies?q=hang')).body.data).toHaveLength(1);
  });

  it('of one client delay those of another one by one read', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const slow = Array.from({ length: 80 }, () => api.getOnly('/endless', from('203.0.113.1')));
    const other = await api.getOnly('/v1/dummies?q=hang', from('203.0.113.2'));

    expect(other).toHaveStatus(200);
    expect(other.body.meta.total).toBe(1);
    for (const reply of await Promise.all(slow)) expect(reply).toBeError('SERVICE_UNAVAILABLE');
  });
});

onEach('large writes', { modules: [FixtureModule] }, ({ api }) => {
  it('are all written or rejected with 503, and disconnected clients free their places', async () => {
    const origin = await api.listen();
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ text: 'x'.repeat(100_000) });
    const send = async (signal?: AbortSignal) => {
      const response = await fetch(`${origin}/v1/dummies`, {
        method: 'POST',
        headers,
        body,
        ...(signal && { signal }),
      });
      await response.arrayBuffer();
      return response.status;
    };

    for (let round = 0; round < 2; round++) {
      const abort = new AbortController();
      const left = Array.from({ length: 40 }, () => send(abort.signal).catch(() => undefined));
      await fetch(`${origin}/health`);
      abort.abort();
      await Promise.all(left);
    }
    const statuses = await Promise.all(Array.from({ length: 100 }, () => send()));
    const created = statuses.filter((status) => status === 201).length;
    expect(created).toBeGreaterThan(0);
    expect(statuses.filter((status) => status === 503)).toHaveLength(100 - created);
    expect(await send()).toBe(201);
  });
});
