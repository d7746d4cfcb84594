import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import { startApi, type TestApi } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { sendIfMatch, tagOf, testEntityTags, testIfMatch } from './support/conditional.js';
import { Sample } from './support/fixture/sample.entity.js';
import { Ticket } from './support/fixture/tickets.js';
import { FixtureModule } from './support/fixture.module.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('entity tags on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const repository = <T extends object>(entity: new () => T): Repository<T> =>
    api.app.get(getRepositoryToken(entity));

  const ticket = () =>
    api.post('/v1/tickets', { item: 'Tea' }, { 'idempotency-key': `key-${Math.random()}` });

  describe.each([
    ['a sample', async () => `/v1/samples/${(await api.samples.create()).id}`],
    ['a ticket', async () => `/v1/tickets/${(await ticket()).body.data.id}`],
  ])('of %s', (_, make) => {
    testEntityTags(() => api, make);
  });

  it('come with the response to a write, and equal those of the next read', async () => {
    const made = await api.post('/v1/samples', { text: 'T' });
    for (const reply of [made, await ticket()]) {
      expect(reply).toHaveStatus(201);
      expect(tagOf(await api.get(reply.headers['location']!))).toBe(tagOf(reply));
      expect(reply.headers['cache-control']).toBe('no-cache');
    }
    const path = made.headers['location']!;
    const changed = await api.patch(path, { text: 'Changed' });
    expect(tagOf(await api.get(path))).toBe(tagOf(changed));
    const put = await api.put(path, { text: 'Put' });
    expect(tagOf(await api.get(path))).toBe(tagOf(put));
  });

  it('change with each write, also of nothing, over GraphQL, and within one millisecond', async () => {
    const { id } = await api.samples.create({ text: 'Same' });
    const tags = new Set<string>();
    const note = async () => tags.add(tagOf(await api.get(`/v1/samples/${id}`)));
    await note();
    await api.patch(`/v1/samples/${id}`, { counter: 1 });
    await note();
    await api.patch(`/v1/samples/${id}`, {});
    await note();
    await api.graphql(`mutation { updateSample(id: ${id}, input: { text: "Same" }) { id } }`);
    await note();
    for (let n = 0; n < 20; n++) {
      await Promise.all([1, 2, 3].map(() => api.patch(`/v1/samples/${id}`, { text: 'Same' })));
      await note();
    }
    expect(tags.size).toBe(24);
  });

  it('change with each write by repository, builder, upsert and SQL text', async () => {
    const samples = repository(Sample);
    const { id } = await api.samples.create();
    const source = api.app.get(DataSource);
    const tags = [tagOf(await api.get(`/v1/samples/${id}`))];
    const writes: (() => Promise<unknown>)[] = [
      () => samples.update({ id }, { text: 'A' }),
      async () => samples.save(Object.assign(await samples.findOneByOrFail({ id }), { text: 'B' })),
      () => samples.createQueryBuilder().update().set({ text: 'B' }).where({ id }).execute(),
      () =>
        source.query(`INSERT INTO samples (id, text, status, counter, created_at, updated_at)
          SELECT id, 'C', status, counter, created_at, updated_at FROM samples WHERE id = ${id}
          ON CONFLICT (id) DO UPDATE SET text = excluded.text, version = 1`),
      () => source.query(`UPDATE samples SET text = 'D' WHERE id = ${id}`),
      () => source.query(`UPDATE samples SET text = 'D' WHERE id = ${id}`),
      () => api.rows.execute('UPDATE samples SET counter = 7 WHERE id = :id', { id }),
    ];
    for (const write of writes) {
      await write();
      tags.push(tagOf(await api.get(`/v1/samples/${id}`)));
    }
    expect(new Set(tags).size).toBe(writes.length + 1);

    const made = await ticket();
    await repository(Ticket).update({ id: made.body.data.id }, { text: '{}' });
    expect(tagOf(await api.get(made.headers['location']!))).not.toBe(tagOf(made));
  });

  it('are not sent with lists, errors, and other responses', async () => {
    await api.samples.create();
    for (const path of ['/v1/samples', '/v1/samples?cursor=', '/v1/tickets', '/v1/events']) {
      const reply = await api.get(path, { 'if-none-match': '*' });
      expect(reply).toHaveStatus(200);
      expect(reply.headers).not.toHaveProperty('etag');
      expect(reply.headers['cache-control']).toBe('no-cache');
    }
    for (const path of ['/v1/samples/999999999', '/v1/samples/x', '/nowhere']) {
      const reply = await api.get(path, { 'if-none-match': '*', 'if-match': 'x' });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.headers).not.toHaveProperty('etag');
      expect(reply.headers['cache-control']).toBe('no-cache');
    }
    expect(await api.get('/v1/samples/1', { 'if-match': 'x' })).toHaveStatus(200);
    expect(await api.post('/v1/samples', { text: 'T' }, { 'if-match': 'x' })).toHaveStatus(201);
    expect(await api.patch('/v1/samples/1', {}, { 'if-none-match': '*' })).toHaveStatus(200);
  });

  it('are replayed with a stored response', async () => {
    const key = { 'idempotency-key': 'replay' };
    const first = await api.post('/v1/samples', { text: 'T' }, key);
    await api.patch(first.headers['location']!, {});
    const again = await api.post('/v1/samples', { text: 'T' }, key);

    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      etag: tagOf(first),
      'cache-control': 'no-cache',
    });
  });

  it.each(['/auth/me/', '/auth/nowhere/', '/auth/login/', '/auth/social/', '/graphql'])(
    'are not sent for %s, which no cache stores',
    async (path) => {
      for (const method of ['GET', 'POST'] as const) {
        const reply = await api.send({ method, url: path });
        expect(reply.headers['cache-control']).toBe('no-store');
      }
    },
  );

  it('are exposed to pages of other origins, which may send conditions', async () => {
    const preflight = await api.send({
      method: 'OPTIONS',
      url: '/v1/samples/1',
      headers: {
        origin: 'https://example.com',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'if-match,if-none-match,content-type',
      },
    });

    expect(preflight).toHaveStatus(204);
    expect(preflight.headers['access-control-allow-headers']).toContain('if-match,if-none-match');
    const { headers } = await api.get('/v1/samples/1');
    expect(headers['access-control-expose-headers']).toMatch(/\bETag\b/);
  });
});

describe.each(STORES)('If-Match on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const make = async () => `/v1/samples/${(await api.samples.create()).id}`;

  describe.each(['PATCH', 'PUT', 'DELETE'] as const)('of %s', (method) => {
    testIfMatch(() => api, method, make, '/v1/samples/999999999');
  });

  it('accepts exactly one of 100 concurrent changes with one tag, by all methods', async () => {
    const path = await make();
    const tag = tagOf(await api.get(path));

    const replies = await times(100, (n) =>
      patiently(() => sendIfMatch(api, n % 2 ? 'PATCH' : 'PUT', path, tag, { text: `Text ${n}` })),
    );

    const [winner, ...more] = replies.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(99);
    expect((await api.get(path)).body.data.text).toBe(winner!.body.data.text);
  });

  it('rejects a tag that a change over GraphQL has outdated', async () => {
    const { id } = await api.samples.create();
    const tag = tagOf(await api.get(`/v1/samples/${id}`));
    await api.graphql(`mutation { updateSample(id: ${id}, input: {}) { id } }`);

    expect(await sendIfMatch(api, 'PATCH', `/v1/samples/${id}`, tag)).toBeError('PRECONDITION_FAILED');
  });

  it('prevents lost updates of concurrent increments', async () => {
    const { id } = await api.samples.create({ counter: 0 });
    const path = `/v1/samples/${id}`;
    const increment = async (): Promise<void> => {
      for (;;) {
        const reply = await api.get(path);
        const counter = reply.body.data.counter + 1;
        const { status } = await sendIfMatch(api, 'PATCH', path, tagOf(reply), { counter });
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };

    await Promise.all(Array.from({ length: 20 }, increment));

    expect((await api.samples.get(id)).counter).toBe(20);
  });
});
