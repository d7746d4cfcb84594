import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../src/platform/database/database.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { Post } from '../src/posts/post.entity.js';
import { ViewCounter } from '../src/posts/view-counter.js';
import { User } from '../src/users/user.entity.js';
import { type Reply, startApi, type TestApi } from './support/api.js';
import { FixtureModule, Ticket } from './support/fixture.module.js';
import { STORES } from './support/stores.js';

const tagOf = ({ headers }: Reply): string => headers['etag']!;
const XML = { accept: 'application/xml' };

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

  /** Creates a resource of each kind that has an entity tag, and returns its path. */
  const RESOURCES: [name: string, make: () => Promise<string>][] = [
    ['a post', async () => `/v1/posts/${(await api.posts.create()).id}`],
    ['a post of a user', async () => `/v1/users/1/posts/${(await api.posts.create()).id}`],
    ['a user of version 1', async () => `/v1/users/${(await api.users.create()).id}`],
    ['a user of version 2', async () => `/v2/users/${(await api.users.create()).id}`],
    ['a ticket', async () => `/v1/tickets/${(await ticket()).body.data.id}`],
  ];

  describe.each(RESOURCES)('of %s', (_, make) => {
    it('are strong and stable, and allow clients to cache', async () => {
      const path = await make();
      const first = await api.get(path);

      expect(tagOf(first)).toMatch(/^"[\x21\x23-\x7e]+"$/);
      expect(first.headers['cache-control']).toBe('no-cache');
      const again = await api.get(path);
      expect(tagOf(again)).toBe(tagOf(first));
      const head = await api.send({ method: 'HEAD', url: path });
      expect(head.headers).toMatchObject({
        etag: tagOf(first),
        'content-length': first.headers['content-length'],
      });
    });

    it.each([
      ['the tag', (tag: string) => tag],
      ['the weak form of the tag', (tag: string) => `W/${tag}`],
      ['a list', (tag: string) => `"a,b" ,, W/"c",${tag}`],
      ['*', () => '*'],
    ])('return 304 without a body for %s', async (__, header) => {
      const path = await make();
      const first = await api.get(path);
      const tag = tagOf(first);
      for (const method of ['GET', 'HEAD'] as const) {
        const reply = await api.send({ method, url: path, headers: { 'if-none-match': header(tag) } });

        expect(reply).toHaveStatus(304);
        expect(reply.text).toBe('');
        expect(reply.headers).toMatchObject({ etag: tag, 'cache-control': 'no-cache' });
        expect(reply.headers).not.toHaveProperty('content-type');
        // For HEAD, it is the length of the 200 response (RFC 9110, section 8.6).
        const length = method === 'HEAD' ? first.headers['content-length'] : undefined;
        expect(reply.headers['content-length']).toBe(length);
      }
    });

    it.each(['"other"', 'W/"other"', '', ' ', ',', 'abc', '"unclosed', '"a" "b"', '*, "a"', 'w/"a"', "'a'"])(
      'return 200 for %j',
      async (header) => {
        const path = await make();
        expect(await api.get(path, { 'if-none-match': header })).toHaveStatus(200);
      },
    );
  });

  it('come with the response to a write, and equal those of the next read', async () => {
    const post = await api.post('/v1/posts', { title: 'T', content: 'C' });
    const user1 = await api.post('/v1/users', { name: 'A' });
    const user2 = await api.post('/v2/users', { name: 'A' });
    const made = await ticket();
    for (const reply of [post, user1, user2, made]) {
      expect(reply).toHaveStatus(201);
      expect(tagOf(await api.get(reply.headers['location']!))).toBe(tagOf(reply));
      expect(reply.headers['cache-control']).toBe('no-cache');
    }
    for (const [path, change] of [
      [post.headers['location']!, { title: 'Changed' }],
      [user1.headers['location']!, { name: 'Changed' }],
      [user2.headers['location']!, { name: 'Changed' }],
    ] as const) {
      const changed = await api.patch(path, change);
      expect(tagOf(await api.get(path))).toBe(tagOf(changed));
    }
    const put = await api.put(user2.headers['location']!, { name: 'Put' });
    expect(tagOf(await api.get(user2.headers['location']!))).toBe(tagOf(put));
  });

  it('change with each write, also of hidden fields, over GraphQL, and within one millisecond', async () => {
    const { id } = await api.users.create({ name: 'Same' });
    const tags = new Set<string>();
    const note = async () => tags.add(tagOf(await api.get(`/v1/users/${id}`)));
    await note();
    await api.patch(`/v1/users/${id}`, { email: 'ada@example.com' });
    await note();
    await api.patch(`/v2/users/${id}`, {});
    await note();
    await api.graphql(`mutation { updateUser(id: ${id}, input: { name: "Same" }) { id } }`);
    await note();
    for (let n = 0; n < 20; n++) {
      await Promise.all([1, 2, 3].map(() => api.patch(`/v1/users/${id}`, { name: 'Same' })));
      await note();
    }
    expect(tags.size).toBe(24);
  });

  it('change with each write by repository, builder, upsert and SQL text', async () => {
    const users = repository(User);
    const user = await api.users.create();
    const id = Number(user.id);
    const { source } = api.app.get(Database);
    const tags = [tagOf(await api.get(`/v2/users/${id}`))];
    const writes: (() => Promise<unknown>)[] = [
      () => users.update({ id }, { name: 'A' }),
      async () => users.save(Object.assign(await users.findOneByOrFail({ id }), { name: 'B' })),
      () => users.createQueryBuilder().update().set({ name: 'B' }).where({ id }).execute(),
      () =>
        source.query(`INSERT INTO users (id, name, email, created_at, updated_at)
          SELECT id, 'C', email, created_at, updated_at FROM users WHERE id = ${id}
          ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = 1`),
      () => source.query(`UPDATE users SET name = 'D' WHERE id = ${id}`),
      () => source.query(`UPDATE users SET name = 'D' WHERE id = ${id}`),
      () =>
        api.app.get(Transactions).execute("UPDATE users SET email = 'd@example.com' WHERE id = :id", { id }),
    ];
    for (const write of writes) {
      await write();
      tags.push(tagOf(await api.get(`/v2/users/${id}`)));
    }
    expect(new Set(tags).size).toBe(writes.length + 1);

    const posts = repository(Post);
    const post = await api.posts.create();
    const before = tagOf(await api.get(`/v1/posts/${post.id}`));
    await posts.update({ id: post.id }, { content: 'Other' });
    const after = tagOf(await api.get(`/v1/posts/${post.id}`));
    expect(after).not.toBe(before);

    const made = await ticket();
    await repository(Ticket).update({ id: made.body.data.id }, { text: '{}' });
    expect(tagOf(await api.get(made.headers['location']!))).not.toBe(tagOf(made));
  });

  it('differ between the JSON and the XML of a user, and do not match each other', async () => {
    const { id } = await api.users.create();
    const [json, xml] = [await api.get(`/v1/users/${id}`), await api.get(`/v1/users/${id}`, XML)];

    expect(tagOf(json)).not.toBe(tagOf(xml));
    expect(await api.get(`/v1/users/${id}`, { 'if-none-match': tagOf(xml) })).toHaveStatus(200);
    expect(await api.get(`/v1/users/${id}`, { ...XML, 'if-none-match': tagOf(json) })).toHaveStatus(200);
    const unchanged = await api.get(`/v1/users/${id}`, { ...XML, 'if-none-match': tagOf(xml) });
    expect(unchanged).toHaveStatus(304);
    expect(unchanged.headers).toMatchObject({ etag: tagOf(xml), vary: 'Accept' });
    expect(unchanged.headers).not.toHaveProperty('content-type');
  });

  it('do not change when views are counted, and a 304 counts as a view', async () => {
    const [cold, warm] = [await api.posts.create(), await api.posts.create()];
    const tag = tagOf(await api.get(`/v1/posts/${cold.id}`));
    const warmTag = tagOf(await api.send({ method: 'HEAD', url: `/v1/posts/${warm.id}` }));
    for (let n = 0; n < 3; n++) {
      expect(await api.get(`/v1/posts/${warm.id}`, { 'if-none-match': warmTag })).toHaveStatus(304);
    }
    await api.app.get(ViewCounter).onApplicationShutdown();

    const rows = await api.app
      .get(Database)
      .queries.all<{ views: number }>(
        `SELECT views FROM post_views WHERE post_id IN (${cold.id}, ${warm.id}) ORDER BY post_id`,
      );
    expect(rows.map(({ views }) => views)).toEqual([1, 3]);
    expect(tagOf(await api.get(`/v1/posts/${cold.id}`))).toBe(tag);
    expect(tagOf(await api.get(`/v1/posts/${warm.id}`))).toBe(warmTag);
  });

  it('are not sent with lists, errors, and other responses', async () => {
    await api.posts.create();
    for (const path of ['/v1/posts', '/v1/posts/cursor', '/v1/users', '/v2/users', '/v1/users/1/posts']) {
      const reply = await api.get(path, { 'if-none-match': '*' });
      expect(reply).toHaveStatus(200);
      expect(reply.headers).not.toHaveProperty('etag');
      expect(reply.headers).not.toHaveProperty('cache-control');
    }
    for (const path of ['/v1/posts/999999999', '/v1/posts/x', '/nowhere']) {
      const reply = await api.get(path, { 'if-none-match': '*', 'if-match': 'x' });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.headers).not.toHaveProperty('etag');
      expect(reply.headers).not.toHaveProperty('cache-control');
    }
    expect(await api.get('/v1/posts/1', { 'if-match': 'x' })).toHaveStatus(200);
    expect(await api.post('/v1/posts', { title: 'T', content: 'C' }, { 'if-match': 'x' })).toHaveStatus(201);
    expect(await api.patch('/v1/posts/1', {}, { 'if-none-match': '*' })).toHaveStatus(200);
  });

  it('are replayed with a stored response', async () => {
    for (const [path, body] of [
      ['/v1/posts', { title: 'T', content: 'C' }],
      ['/v2/users', { name: 'A' }],
    ] as const) {
      const key = { 'idempotency-key': `replay-${path}` };
      const first = await api.post(path, body, key);
      await api.patch(first.headers['location']!, {});
      const again = await api.post(path, body, key);

      expect(again.headers).toMatchObject({
        'idempotent-replayed': 'true',
        etag: tagOf(first),
        'cache-control': 'no-cache',
      });
    }
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
      url: '/v1/posts/1',
      headers: {
        origin: 'https://example.com',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'if-match,if-none-match,content-type',
      },
    });

    expect(preflight).toHaveStatus(204);
    expect(preflight.headers['access-control-allow-headers']).toContain('if-match,if-none-match');
    const { headers } = await api.get('/v1/posts/1');
    expect(headers['access-control-expose-headers']).toMatch(/\bETag\b/);
  });
});

describe.each(STORES)('If-Match on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  type Method = 'PATCH' | 'PUT' | 'DELETE';
  const post = async () => `/v1/posts/${(await api.posts.create()).id}`;
  const userOf = (version: 1 | 2) => async () => `/v${version}/users/${(await api.users.create()).id}`;
  const CHANGES: [method: Method, name: string, make: () => Promise<string>, absent: string][] = [
    ['PATCH', 'a post', post, '/v1/posts/999999999'],
    ['DELETE', 'a post', post, '/v1/posts/999999999'],
    ...([1, 2] as const).flatMap((version) =>
      (['PATCH', 'PUT', 'DELETE'] as const).map((method): (typeof CHANGES)[number] => [
        method,
        `a user of version ${version}`,
        userOf(version),
        `/v${version}/users/999999999`,
      ]),
    ),
  ];

  const send = (
    method: Method,
    url: string,
    ifMatch: string,
    body: unknown = { name: 'New', title: 'New' },
  ) =>
    api.send({
      method,
      url,
      headers: { 'if-match': ifMatch, ...(method !== 'DELETE' && { 'content-type': 'application/json' }) },
      ...(method !== 'DELETE' && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const success = (method: Method) => (method === 'DELETE' ? 204 : 200);

  describe.each(CHANGES)('of %s %s', (method, name, make, absent) => {
    it('accepts the current tag, alone or in a list', async () => {
      for (const list of [(tag: string) => tag, (tag: string) => `"a", ${tag} , W/"b"`, () => '*']) {
        const path = await make();
        expect(await send(method, path, list(tagOf(await api.get(path))))).toHaveStatus(success(method));
      }
    });

    it('rejects an outdated, a weak or an unknown tag, and changes nothing', async () => {
      const path = await make();
      const old = tagOf(await api.get(path));
      await api.patch(path, {});
      const before = await api.get(path);

      for (const header of [old, '"x"', `W/${tagOf(before)}`, `W/${tagOf(before)}, ${old}`]) {
        const reply = await send(method, path, header);
        expect(reply).toBeError('PRECONDITION_FAILED');
        expect(reply.headers).not.toHaveProperty('etag');
      }
      const after = await api.get(path);
      expect([after.body, tagOf(after)]).toEqual([before.body, tagOf(before)]);
    });

    it('says that a proxy has made a tag weak', async () => {
      const path = await make();
      const weak = `W/${tagOf(await api.get(path))}`;

      const reply = await send(method, path, weak);
      expect(reply).toBeError('PRECONDITION_FAILED');
      expect(reply.body.error.message).toMatch(/weak tag .* A proxy that compresses .* the guide “HTTP”/);
      // The tag is not outdated: reading it again would not help.
      expect(reply.body.error.message).not.toContain('read it again');
      expect((await send(method, path, '"x"')).body.error.message).toContain('read it again');
    });

    it.each(['', ' ', ',', 'x', '"unclosed', '*, "a"', '"a" "b"'])(
      'rejects the header %j before it checks the body',
      async (header) => {
        const path = await make();

        for (const body of [[], '{', { title: 5, name: 5 }]) {
          expect(await send(method, path, header, body)).toBeError('MALFORMED_REQUEST');
        }
        expect(await send(method, path.replace(/\d+$/, 'abc'), header, [])).toBeError('INVALID_ID');
        expect(await api.get(path)).toHaveStatus(200);
      },
    );

    it('is checked after the body and after existence', async () => {
      expect(await send(method, absent, '"x"')).toBeError('NOT_FOUND');
      expect(await send(method, absent, '*')).toBeError('NOT_FOUND');
      if (method === 'DELETE') return;
      const reply = await send(method, await make(), '"x"', { name: 5, title: 5 });
      expect(reply).toBeError('VALIDATION_ERROR');
    });

    it('also matches the tag of the XML, where there is XML', async () => {
      const path = await make();
      const id = path.split('/').at(-1)!;
      const tag = name.includes('user')
        ? tagOf(await api.get(`/v1/users/${id}`, XML))
        : tagOf(await api.get(path)).replace(/"$/, '.xml"');

      expect(await send(method, path, tag)).toHaveStatus(name.includes('user') ? success(method) : 412);
    });

    it('accepts exactly one of 100 concurrent changes with one tag', async () => {
      const path = await make();
      const tag = tagOf(await api.get(path));

      const replies = await Promise.all(Array.from({ length: 100 }, () => send(method, path, tag)));

      const statuses = replies.map(({ status }) => status);
      expect(statuses.filter((status) => status === success(method))).toHaveLength(1);
      const others = statuses.filter((status) => status !== success(method));
      // A late DELETE finds no resource.
      expect(others.every((status) => status === 412 || (method === 'DELETE' && status === 404))).toBe(true);
    });
  });

  it('accepts exactly one of 100 concurrent changes with one tag, by all methods and versions', async () => {
    const { id } = await api.users.create();
    const tag = tagOf(await api.get(`/v2/users/${id}`));
    const xml = tagOf(await api.get(`/v1/users/${id}`, XML));

    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        send(n % 2 ? 'PATCH' : 'PUT', `/v${1 + (n % 3 === 0 ? 1 : 0)}/users/${id}`, n % 5 ? tag : xml, {
          name: `Name ${n}`,
        }),
      ),
    );

    const [winner, ...more] = replies.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(99);
    const { name } = winner!.body.data ?? winner!.body;
    expect((await api.users.get(id)).name).toBe(name);
  });

  it('rejects a tag that a change over GraphQL has outdated', async () => {
    const { id } = await api.users.create();
    const tag = tagOf(await api.get(`/v2/users/${id}`));
    await api.graphql(`mutation { updateUser(id: ${id}, input: {}) { id } }`);

    expect(await send('PATCH', `/v2/users/${id}`, tag)).toBeError('PRECONDITION_FAILED');
  });

  it('is checked before the conflict of a user with posts', async () => {
    await api.posts.create();
    expect(await send('DELETE', '/v1/users/1', '"x"')).toBeError('PRECONDITION_FAILED');
    expect(await send('DELETE', '/v1/users/1', tagOf(await api.get('/v1/users/1')))).toBeError('CONFLICT');
  });

  it('prevents lost updates of concurrent increments', async () => {
    const { id } = await api.posts.create({ content: '0' });
    const path = `/v1/posts/${id}`;
    const increment = async (): Promise<void> => {
      for (;;) {
        const reply = await api.get(path);
        const content = String(Number(reply.body.data.content) + 1);
        const { status } = await send('PATCH', path, tagOf(reply), { content });
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };

    await Promise.all(Array.from({ length: 20 }, increment));

    expect((await api.posts.get(id)).content).toBe('20');
  });
});
