import { beforeAll, describe, expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { onEach } from './support/on-each.js';
import { isOrdered, shuffle } from './support/shuffle.js';
import { usersOf } from './support/users.js';

onEach('users', {}, ({ api, store }) => {
  it('contain the default author of posts', async () => {
    expect((await api.get('/v1/users/1')).body).toEqual({ id: 1, name: 'Author' });
    expect((await api.get('/v2/users/1')).body.data).toMatchObject({ id: '1', name: 'Author', email: '' });
  });

  describe('create', () => {
    it('returns only id and name in version 1', async () => {
      const reply = await api.post('/v1/users', { name: 'Ada', email: 'ada@example.com' });

      expect(reply).toHaveStatus(201);
      expect(reply.body).toEqual({ id: expect.any(Number), name: 'Ada' });
      expect(reply.headers['location']).toBe(`/v1/users/${reply.body.id}`);
      expect(await usersOf(api).get(reply.body.id)).toMatchObject({ email: 'ada@example.com' });
    });

    it('returns all fields in version 2', async () => {
      const reply = await api.post('/v2/users', { name: 'Ada', email: 'ada@example.com' });

      expect(reply).toHaveStatus(201);
      expect(reply.body).toEqual({
        data: {
          id: expect.stringMatching(/^\d+$/),
          name: 'Ada',
          email: 'ada@example.com',
          created_at: expect.laterThan('2026'),
          updated_at: reply.body.data.created_at,
        },
      });
      expect(reply.headers['location']).toBe(`/v2/users/${reply.body.data.id}`);
      expect((await api.get(reply.headers['location']!)).body).toEqual(reply.body);
    });

    it.each([
      ['no e-mail', { name: 'Ada' }, ''],
      ['an empty e-mail', { name: 'Ada', email: '' }, ''],
      ['null for the e-mail', { name: 'Ada', email: null }, ''],
      ['an address beyond ASCII', { name: 'Ada', email: 'jürgen@bücher.example' }, 'jürgen@bücher.example'],
      ['the longest name', { name: '😀'.repeat(150) }, ''],
      ['a blank name', { name: ' ' }, ''],
      ['unknown keys, which are ignored', { name: 'Ada', id: 4711, created_at: 'x', role: 'admin' }, ''],
    ])('accepts %s', async (_, body, email) => {
      const reply = await api.post('/v2/users', body);

      expect(reply).toHaveStatus(201);
      expect(reply.body.data).toMatchObject({ name: body.name, email });
      expect(reply.body.data.id).not.toBe('4711');
    });

    it('accepts an e-mail that another user has', async () => {
      await usersOf(api).create({ email: 'twice@example.com' });

      expect(await api.post('/v1/users', { name: 'B', email: 'twice@example.com' })).toHaveStatus(201);
    });

    it.each([
      ['no fields', {}, ['name']],
      ['an array', [], ['name']],
      ['an empty name', { name: '' }, ['name']],
      ['null for the name', { name: null }, ['name']],
      ['a name that is not text', { name: 5 }, ['name']],
      ['a name that is too long', { name: 'a'.repeat(151) }, ['name']],
      ['NUL in the name', { name: 'a\0b' }, ['name']],
      ['a lone surrogate in the name', { name: '\ud800' }, ['name']],
      ['an invalid e-mail', { name: 'Ada', email: 'ada' }, ['email']],
      ['an e-mail that is not text', { name: 'Ada', email: 5 }, ['email']],
      ['an e-mail with a lone surrogate', { name: 'Ada', email: '\ud800@example.com' }, ['email']],
      ['an e-mail that is too long', { name: 'Ada', email: `${'a'.repeat(250)}@example.com` }, ['email']],
      ['two invalid fields', { name: '', email: 'x' }, ['name', 'email']],
    ])('rejects %s, in both versions', async (_, body, fields) => {
      const total = await count();

      expect(await api.post('/v1/users', body)).toBeError('VALIDATION_ERROR', fields);
      expect(await api.post('/v2/users', body)).toBeError('VALIDATION_ERROR', fields);
      expect(await count()).toBe(total);
    });
  });

  describe('list', () => {
    beforeAll(async () => {
      for (let n = 0; n < 5; n++) await usersOf(api).create();
    });

    it('is ordered by id, with ids as text', async () => {
      await shuffle(api, 'users');
      const ids = (await api.get('/v1/users')).body.users.map(({ id }: { id: string }) => id);

      expect(ids[0]).toBe('1');
      expect(ids).toEqual(ids.toSorted((a: string, b: string) => Number(a) - Number(b)));
      expect(isOrdered((await api.get('/v2/users')).body.data, 'ascending')).toBe(true);
      const { data } = (await api.graphql('{ users { id } }')).body;
      expect(isOrdered(data.users, 'ascending')).toBe(true);
      expect(Object.keys((await api.get('/v1/users')).body)).toEqual(['users']);
      expect((await api.get('/v1/users?limit=1')).body).toEqual({ users: [{ id: '1', name: 'Author' }] });
    });

    it('has pages of up to 100 in version 1, with links in Link', async () => {
      const total = await count();
      const reply = await api.get('/v1/users?limit=2&page=2');

      expect(reply.body.users).toHaveLength(2);
      expect(reply.headers['link']).toContain('</v1/users?limit=2&page=3>; rel="next"');
      expect((await api.get('/v1/users?limit=101')).body.users).toHaveLength(Math.min(total, 100));
      expect((await api.get('/v1/users?page=9223372036854775807')).body).toEqual({ users: [] });
    });

    it('has the pages of posts in version 2', async () => {
      const total = await count();
      const reply = await api.get('/v2/users?limit=2&page=2');

      expect(reply.body.data).toHaveLength(2);
      expect(Object.keys(reply.body.data[0])).toEqual(['id', 'name']);
      expect(reply.body.meta).toEqual({ total, page: 2, limit: 2, has_next: total > 4 });
      expect((await api.get('/v2/users?page=x&limit=101')).body.meta).toMatchObject({ page: 1, limit: 20 });
      expect((await api.get('/v2/users?page=9223372036854775807')).body.data).toEqual([]);
    });
  });

  describe('one user', () => {
    it('is XML for Accept: application/xml', async () => {
      const { id } = await usersOf(api).create({ name: 'a<b>&"c"\' ]]> \r\n\t ü😀\u0001\uFFFE' });
      const reply = await api.get(`/v1/users/${id}`, { accept: 'application/xml' });

      expect(reply.headers['content-type']).toBe('application/xml');
      expect(reply.headers['vary']).toBe('Accept');
      expect(reply.text).toBe(
        `<?xml version="1.0" encoding="UTF-8"?><user><id>${id}</id><name>` +
          'a&lt;b&gt;&amp;"c"\' ]]&gt; &#13;\n\t ü😀\uFFFD\uFFFD</name></user>',
      );
    });

    it.each([
      '*/*',
      'application/json',
      'application/xml;q=1',
      'application/xml, application/json',
      'text/xml',
      'application/xhtml+xml',
      '',
    ])('is JSON for Accept: %j', async (accept) => {
      const reply = await api.get('/v1/users/1', { accept });

      expect(reply.body).toEqual({ id: 1, name: 'Author' });
      expect(reply.headers['content-type']).toMatch(/^application\/json/);
      expect(reply.headers['vary']).toBe('Accept');
    });

    it('is JSON in version 2, whatever the Accept header', async () => {
      const reply = await api.get('/v2/users/1', { accept: 'application/xml' });

      expect(reply.body.data.id).toBe('1');
    });

    it('returns errors in JSON, whatever the Accept header', async () => {
      const accept = { accept: 'application/xml' };

      expect(await api.get('/v1/users/999999', accept)).toBeError('NOT_FOUND');
      expect(await api.get('/v1/users/abc', accept)).toBeError('INVALID_ID');
    });

    it('varies by origin too if origins are listed', async () => {
      const listed = await startApi(store, { CORS_ORIGINS: 'https://a.example' });
      const { headers } = await listed.get('/v1/users/1', { origin: 'https://a.example' });
      await listed.stop();

      expect(headers['vary']).toBe('Origin, Accept');
    });
  });

  describe('update', () => {
    it.each(['/v1', '/v2'])('%s: PATCH changes the given fields and updated_at', async (version) => {
      const before = await usersOf(api).create({ name: 'Before', email: 'a@example.com' });

      expect(await api.patch(`${version}/users/${before.id}`, { name: 'After' })).toHaveStatus(200);
      expect(await usersOf(api).get(before.id)).toEqual({
        ...before,
        name: 'After',
        updated_at: expect.laterThan(before.updated_at),
      });
    });

    it.each([{}, { name: null, email: null }])('PATCH changes only updated_at for %j', async (body) => {
      const before = await usersOf(api).create({ email: 'a@example.com' });
      const reply = await api.patch(`/v2/users/${before.id}`, body);

      expect(reply.body.data).toEqual({ ...before, updated_at: expect.laterThan(before.updated_at) });
    });

    it('PATCH can empty the e-mail', async () => {
      const { id } = await usersOf(api).create({ email: 'a@example.com' });

      expect((await api.patch(`/v2/users/${id}`, { email: '' })).body.data.email).toBe('');
    });

    it.each([{ name: 'After' }, { name: 'After', email: null }, { name: 'After', email: '' }])(
      'PUT %j replaces all fields',
      async (body) => {
        const { id } = await usersOf(api).create({ email: 'a@example.com' });

        expect((await api.put(`/v1/users/${id}`, body)).body).toEqual({ id: Number(id), name: 'After' });
        expect(await usersOf(api).get(id)).toMatchObject({ name: 'After', email: '' });
      },
    );

    it('responds in the format of its version', async () => {
      const user = await usersOf(api).create();

      expect((await api.patch(`/v1/users/${user.id}`, {})).body).toEqual({
        id: Number(user.id),
        name: user.name,
      });
      expect((await api.put(`/v2/users/${user.id}`, { name: 'B' })).body.data).toMatchObject({
        id: user.id,
        name: 'B',
      });
    });

    it.each([
      ['patch', { name: '' }, ['name']],
      ['patch', { email: 'x' }, ['email']],
      ['put', {}, ['name']],
      ['put', { name: null }, ['name']],
      ['put', { name: 'A', email: 'x' }, ['email']],
    ] as const)('%s rejects %j, and keeps the user unchanged', async (method, body, fields) => {
      const before = await usersOf(api).create({ email: 'a@example.com' });

      for (const version of ['/v1', '/v2']) {
        expect(await api[method](`${version}/users/${before.id}`, body)).toBeError(
          'VALIDATION_ERROR',
          fields,
        );
      }
      expect(await usersOf(api).get(before.id)).toEqual(before);
    });

    it('checks the id, then the body, then the existence of the user, and creates none', async () => {
      for (const version of ['/v1', '/v2']) {
        expect(await api.put(`${version}/users/x`, { name: '' })).toBeError('INVALID_ID');
        expect(await api.put(`${version}/users/999999`, { name: '' })).toBeError('VALIDATION_ERROR');
        expect(await api.put(`${version}/users/999999`, { name: 'A' })).toBeError('NOT_FOUND');
        expect(await api.patch(`${version}/users/0`, {})).toBeError('NOT_FOUND');
        expect(await api.get(`${version}/users/999999`)).toBeError('NOT_FOUND');
      }
    });
  });

  describe('delete', () => {
    it.each(['/v1', '/v2'])('%s: returns 204 once', async (version) => {
      const { id } = await usersOf(api).create();
      const reply = await api.delete(`${version}/users/${id}`, { 'content-type': 'application/json' });

      expect(reply).toHaveStatus(204);
      expect(reply.text).toBe('');
      expect(await api.delete(`${version}/users/${id}`)).toBeError('NOT_FOUND');
    });
  });

  it('runs a POST once for each Idempotency-Key of a version, which stays valid after an error', async () => {
    const key = { 'idempotency-key': 'a-user' };
    const user = { name: 'Ada', email: 'ada@example.com' };
    const ids: string[] = [];
    for (const path of ['/v1/users', '/v2/users']) {
      expect(await api.post(path, '{broken', key)).toBeError('MALFORMED_REQUEST');
      const first = await api.post(path, user, key);
      const again = await api.post(`${path}/?x=1`, user, key);

      expect([first.status, again.text]).toEqual([201, first.text]);
      ids.push(first.headers['location']!.split('/').at(-1)!);
    }
    expect(ids[1]).toBe(String(Number(ids[0]) + 1));
  });

  it.each(['/v3/users', '/users'])('is at no other path: %s', async (path) => {
    expect(await api.get(path)).toBeError('NOT_FOUND');
  });

  const count = async (): Promise<number> => (await api.get('/v2/users')).body.meta.total;
});
