import { describe, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import { patiently, times } from './support/concurrent.js';
import { sendIfMatch, tagOf, testEntityTags, testIfMatch } from './support/conditional.js';
import { FixtureModule } from './support/fixture.module.js';
import { Dummy } from './support/fixture/dummy.entity.js';
import { Stub } from './support/fixture/stubs.js';
import { onEach } from './support/on-each.js';

onEach('conditional requests', { modules: [FixtureModule] }, ({ api }) => {
  describe('entity tags', () => {
    const repository = <T extends object>(entity: new () => T): Repository<T> =>
      api.app.get(getRepositoryToken(entity));

    const stub = () => api.post('/v1/stubs', { item: 'Tea' }, { 'idempotency-key': `key-${Math.random()}` });

    describe.each([
      ['a dummy', async () => `/v1/dummies/${(await api.dummies.create()).id}`],
      ['a stub', async () => `/v1/stubs/${(await stub()).body.data.id}`],
    ])('of %s', (_, make) => {
      testEntityTags(() => api, make);
    });

    it('come with the response to a write, and equal those of the next read', async () => {
      const made = await api.post('/v1/dummies', { text: 'T' });
      for (const reply of [made, await stub()]) {
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
      const { id } = await api.dummies.create({ text: 'Same' });
      const tags = new Set<string>();
      const note = async () => tags.add(tagOf(await api.get(`/v1/dummies/${id}`)));
      await note();
      await api.patch(`/v1/dummies/${id}`, { counter: 1 });
      await note();
      await api.patch(`/v1/dummies/${id}`, {});
      await note();
      await api.graphql(`mutation { updateDummy(id: ${id}, input: { text: "Same" }) { id } }`);
      await note();
      for (let n = 0; n < 20; n++) {
        await Promise.all([1, 2, 3].map(() => api.patch(`/v1/dummies/${id}`, { text: 'Same' })));
        await note();
      }
      expect(tags.size).toBe(24);
    });

    it('change with each write by repository, builder, upsert and SQL text', async () => {
      const dummies = repository(Dummy);
      const { id } = await api.dummies.create();
      const source = api.app.get(DataSource);
      const tags = [tagOf(await api.get(`/v1/dummies/${id}`))];
      const writes: (() => Promise<unknown>)[] = [
        () => dummies.update({ id }, { text: 'A' }),
        async () => dummies.save(Object.assign(await dummies.findOneByOrFail({ id }), { text: 'B' })),
        () => dummies.createQueryBuilder().update().set({ text: 'B' }).where({ id }).execute(),
        () =>
          source.query(`INSERT INTO dummies (id, text, status, counter, created_at, updated_at)
          SELECT id, 'C', status, counter, created_at, updated_at FROM dummies WHERE id = ${id}
          ON CONFLICT (id) DO UPDATE SET text = excluded.text, version = 1`),
        () => source.query(`UPDATE dummies SET text = 'D' WHERE id = ${id}`),
        () => source.query(`UPDATE dummies SET text = 'D' WHERE id = ${id}`),
        () => api.rows.execute('UPDATE dummies SET counter = 7 WHERE id = :id', { id }),
      ];
      for (const write of writes) {
        await write();
        tags.push(tagOf(await api.get(`/v1/dummies/${id}`)));
      }
      expect(new Set(tags).size).toBe(writes.length + 1);

      const made = await stub();
      await repository(Stub).update({ id: made.body.data.id }, { text: '{}' });
      expect(tagOf(await api.get(made.headers['location']!))).not.toBe(tagOf(made));
    });

    it('are not sent with lists, errors, and other responses', async () => {
      await api.dummies.create();
      for (const path of ['/v1/dummies', '/v1/dummies?cursor=', '/v1/stubs', '/v1/events']) {
        const reply = await api.get(path, { 'if-none-match': '*' });
        expect(reply).toHaveStatus(200);
        expect(reply.headers).not.toHaveProperty('etag');
        expect(reply.headers['cache-control']).toBe('no-cache');
      }
      for (const [path, code] of [
        ['/v1/dummies/999999999', 'NOT_FOUND'],
        ['/v1/dummies/x', 'INVALID_ID'],
        ['/nowhere', 'NOT_FOUND'],
      ] as const) {
        const reply = await api.get(path, { 'if-none-match': '*', 'if-match': 'x' });
        expect(reply).toBeError(code);
        expect(reply.headers).not.toHaveProperty('etag');
        expect(reply.headers['cache-control']).toBe('no-cache');
      }
      expect(await api.get('/v1/dummies/1', { 'if-match': 'x' })).toHaveStatus(200);
      expect(await api.post('/v1/dummies', { text: 'T' }, { 'if-match': 'x' })).toHaveStatus(201);
      expect(await api.patch('/v1/dummies/1', {}, { 'if-none-match': '*' })).toHaveStatus(200);
    });

    it('are replayed with a stored response', async () => {
      const key = { 'idempotency-key': 'replay' };
      const first = await api.post('/v1/dummies', { text: 'T' }, key);
      await api.patch(first.headers['location']!, {});
      const again = await api.post('/v1/dummies', { text: 'T' }, key);

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
        url: '/v1/dummies/1',
        headers: {
          origin: 'https://example.com',
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'if-match,if-none-match,content-type',
        },
      });

      expect(preflight).toHaveStatus(204);
      expect(preflight.headers['access-control-allow-headers']).toContain('if-match,if-none-match');
      const { headers } = await api.get('/v1/dummies/1');
      expect(headers['access-control-expose-headers']).toMatch(/\bETag\b/);
    });
  });

  describe('If-Match', () => {
    const make = async () => `/v1/dummies/${(await api.dummies.create()).id}`;

    describe.each(['PATCH', 'PUT', 'DELETE'] as const)('of %s', (method) => {
      testIfMatch(() => api, method, make, '/v1/dummies/999999999');
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
      const { id } = await api.dummies.create();
      const tag = tagOf(await api.get(`/v1/dummies/${id}`));
      await api.graphql(`mutation { updateDummy(id: ${id}, input: {}) { id } }`);

      expect(await sendIfMatch(api, 'PATCH', `/v1/dummies/${id}`, tag)).toBeError('PRECONDITION_FAILED');
    });

    it('prevents lost updates of concurrent increments', async () => {
      const { id } = await api.dummies.create({ counter: 0 });
      const path = `/v1/dummies/${id}`;
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

      expect((await api.dummies.get(id)).counter).toBe(20);
    });
  });
});
