import { beforeAll, expect, it } from '@jest/globals';
import { EndlessModule } from './support/endless.module.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { until } from './support/until.js';

const SLOW = { settings: { TRUST_PROXY: '127.0.0.1' }, modules: [EndlessModule, FixtureModule] };
onEach('slow reads', SLOW, ({ api }) => {
  let origin: string;
  beforeAll(async () => {
    origin = await api.listen();
  });

  /** Eighty of them. @returns the statuses of those that have ended, and what disconnects the clients of the others */
  function begin(headers: Record<string, string> = {}) {
    const statuses: number[] = [];
    const abort = new AbortController();
    for (let n = 0; n < 80; n++) {
      fetch(`${origin}/endless`, { headers, signal: abort.signal }).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      );
    }
    return { statuses, leave: () => abort.abort() };
  }

  it('end with 503 after their deadline or when too many wait, and do not block other requests', async () => {
    const { id } = await api.dummies.create();
    const { statuses, leave } = begin();
    await until('those that would be too many have ended', () => statuses.length > 0);
    const tooMany = statuses.length;

    expect(await api.get('/health/ready')).toHaveStatus(200);
    expect(await api.get(`/v1/dummies/${id}`)).toHaveStatus(200);
    expect(await api.get('/v1/dummies')).toHaveStatus(200);
    expect((await api.get('/v1/dummies?status=open')).body.meta.total).toBe(1);
    expect(await api.get('/v1/events')).toHaveStatus(200);
    expect(await api.patch(`/v1/dummies/${id}`, { text: 'Changed' })).toHaveStatus(200);
    expect(statuses.length).toBeLessThan(80);
    expect(await api.get('/endless/short')).toBeError('SERVICE_UNAVAILABLE');

    await until('the first have ended after their deadline', () => statuses.length > tooMany);
    expect(new Set(statuses)).toEqual(new Set([503]));
    leave();
    expect((await api.get('/v1/dummies?q=hang')).body.data).toHaveLength(1);
  });

  it('of one client delay those of another one by one read', async () => {
    await api.dummies.create();
    const { statuses, leave } = begin({ 'x-forwarded-for': '203.0.113.1' });
    await until('those that would be too many have ended', () => statuses.length > 0);
    const other = await api.get('/v1/dummies?q=text', { 'x-forwarded-for': '203.0.113.2' });

    expect(other).toHaveStatus(200);
    expect(other.body.meta.total).toBe(1);
    leave();
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
