import { describe, expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';
import { postsOf } from './support/posts.js';

const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

onEach('/v1/posts', {}, ({ api }) => {
  describe('POST', () => {
    it('creates a draft by the default author, and returns its Location', async () => {
      const before = await postsOf(api).count();
      const reply = await api.post('/v1/posts', { title: 'First', content: 'Hello' });

      expect(reply).toHaveStatus(201);
      const { id } = reply.body.data;
      expect(reply.body).toEqual({
        data: {
          id: before + 1,
          title: 'First',
          content: 'Hello',
          author_id: 1,
          status: 'draft',
          created_at: TIMESTAMP,
          updated_at: reply.body.data.created_at,
        },
      });
      expect(reply.headers['location']).toBe(`/v1/posts/${id}`);
      expect(await postsOf(api).get(id)).toEqual(reply.body.data);
    });

    it.each([
      [undefined, 'draft'],
      [null, 'draft'],
      ['', 'draft'],
      ['draft', 'draft'],
      ['published', 'published'],
    ])('stores the status %j as %s', async (status, stored) => {
      const reply = await api.post('/v1/posts', { title: 'T', content: 'C', status });

      expect(reply).toHaveStatus(201);
      expect(reply.body.data.status).toBe(stored);
    });

    it.each([
      ['one blank', ' '],
      ['200 characters', 'a'.repeat(200)],
      ['200 emoji, which are 400 UTF-16 units', '😀'.repeat(200)],
      ['markup and quotes', `<b>"it's"</b> \\ % _ ; --`],
    ])('stores a title of %s unchanged', async (_, title) => {
      const reply = await api.post('/v1/posts', { title, content: title });

      expect(reply).toHaveStatus(201);
      expect(await postsOf(api).get(reply.body.data.id)).toMatchObject({ title, content: title });
    });

    it.each([
      ['no title', { content: 'C' }, /title/],
      ['a title that is null', { title: null, content: 'C' }, /title/],
      ['an empty title', { title: '', content: 'C' }, /title/],
      ['a title of 201 characters', { title: 'a'.repeat(201), content: 'C' }, /title.*200/],
      [
        'a title of 400 code points in 200 graphemes',
        { title: 'a\uFE0F'.repeat(200), content: 'C' },
        /title/,
      ],
      ['a title that is a number', { title: 5, content: 'C' }, /title/],
      ['a title that is an array', { title: ['T'], content: 'C' }, /title/],
      ['a title that is an object', { title: { length: 3 }, content: 'C' }, /title/],
      ['a title with NUL', { title: 'a\0b', content: 'C' }, /title/],
      ['a title with a lone surrogate', { title: 'a\uD800b', content: 'C' }, /title/],
      ['no content', { title: 'T' }, /content/],
      ['empty content', { title: 'T', content: '' }, /content/],
      ['content that is null', { title: 'T', content: null }, /content/],
      ['content that is a boolean', { title: 'T', content: true }, /content/],
      ['content with NUL', { title: 'T', content: '\0' }, /content/],
      ['content with a lone surrogate', { title: 'T', content: '\uDC00' }, /content/],
      ['an unknown status', { title: 'T', content: 'C', status: 'archived' }, /status/],
      ['a status in capitals', { title: 'T', content: 'C', status: 'DRAFT' }, /status/],
      ['a status that is a number', { title: 'T', content: 'C', status: 0 }, /status/],
      ['a status that is an array', { title: 'T', content: 'C', status: ['draft'] }, /status/],
      ['a status that is false', { title: 'T', content: 'C', status: false }, /status/],
    ])('rejects %s, names the field only in the message, and stores nothing', async (_, body, message) => {
      const before = await postsOf(api).count();

      const reply = await api.post('/v1/posts', body);

      expect(reply).toBeError('VALIDATION_ERROR');
      expect(reply.body.error.message).toMatch(message);
      expect(reply.body.error).not.toHaveProperty('details');
      expect(await postsOf(api).count()).toBe(before);
    });

    it('names every invalid field', async () => {
      const { body } = await api.post('/v1/posts', { status: 'x' });

      expect(body.error.message).toMatch(/title.*content.*status/);
    });

    it('ignores fields that clients cannot set', async () => {
      const { data } = (
        await api.post('/v1/posts', {
          title: 'T',
          content: 'C',
          id: 99_999,
          author_id: 7,
          created_at: '2001-01-01T00:00:00.000Z',
          updated_at: '2001-01-01T00:00:00.000Z',
          views: 500,
          title_folded: 'x',
          constructor: { prototype: { polluted: true } },
        })
      ).body;

      expect(data.id).toBeLessThan(99_999);
      expect(data.author_id).toBe(1);
      expect(data.created_at).toEqual(expect.laterThan('2020-01-01T00:00:00.000Z'));
      expect(Object.keys(data)).toEqual([
        'id',
        'title',
        'content',
        'author_id',
        'status',
        'created_at',
        'updated_at',
      ]);
    });

    it('never reuses an id, and uses none for a rejected request', async () => {
      const first = await postsOf(api).create();
      await api.delete(`/v1/posts/${first.id}`);
      await api.post('/v1/posts', { title: '' });

      expect((await postsOf(api).create()).id).toBe(first.id + 1);
    });
  });

  describe('GET {id}', () => {
    it('accepts an id with a sign and leading zeros', async () => {
      const { id } = await postsOf(api).create();

      for (const written of [`${id}`, `+${id}`, `%2B${id}`, `00${id}`, `${'0'.repeat(500)}${id}`]) {
        const reply = await api.get(`/v1/posts/${written}`);
        expect(reply).toHaveStatus(200);
        expect(reply.body.data.id).toBe(id);
      }
    });
  });

  describe('PATCH {id}', () => {
    it('changes only the fields that were sent, and moves updated_at forward', async () => {
      const before = await postsOf(api).create({ title: 'Before' });

      const reply = await api.patch(`/v1/posts/${before.id}`, { title: 'After' });

      expect(reply).toHaveStatus(200);
      expect(reply.body.data).toEqual({
        ...before,
        title: 'After',
        updated_at: expect.laterThan(before.updated_at),
      });
      expect(await postsOf(api).get(before.id)).toEqual(reply.body.data);
    });

    it('publishes and unpublishes', async () => {
      const { id } = await postsOf(api).create();

      expect((await api.patch(`/v1/posts/${id}`, { status: 'published' })).body.data.status).toBe(
        'published',
      );
      expect((await api.patch(`/v1/posts/${id}`, { title: 'Still' })).body.data.status).toBe('published');
      expect((await api.patch(`/v1/posts/${id}`, { status: 'draft' })).body.data.status).toBe('draft');
    });

    it.each([
      ['an empty object', {}],
      ['nulls', { title: null, content: null, status: null }],
      ['unknown fields', { id: 5, author_id: 9, views: 3, created_at: 'x' }],
    ])('changes only updated_at for %s', async (_, change) => {
      const before = await postsOf(api).create();

      const reply = await api.patch(`/v1/posts/${before.id}`, change);

      expect(reply).toHaveStatus(200);
      expect(reply.body.data).toEqual({ ...before, updated_at: expect.laterThan(before.updated_at) });
    });

    it('accepts empty content', async () => {
      const { id } = await postsOf(api).create();

      expect((await api.patch(`/v1/posts/${id}`, { content: '' })).body.data.content).toBe('');
    });

    it.each([
      ['an empty title', { title: '' }],
      ['a title that is too long', { title: 'a'.repeat(201) }],
      ['a title that is not text', { title: 5 }],
      ['content that is not text', { content: ['C'] }],
      ['content with NUL', { content: '\0' }],
      ['an empty status', { status: '' }],
      ['an unknown status', { status: 'archived' }],
      ['an invalid field beside a valid one', { title: 'Good', status: 'bad' }],
    ])('rejects %s, and leaves the post as it was', async (_, change) => {
      const before = await postsOf(api).create();

      const reply = await api.patch(`/v1/posts/${before.id}`, change);

      expect(reply).toBeError('VALIDATION_ERROR');
      expect(reply.body.error).not.toHaveProperty('details');
      expect(await postsOf(api).get(before.id)).toEqual(before);
    });

    it('checks the id, then the body, then the existence of the post', async () => {
      expect(await api.patch('/v1/posts/abc', { title: 5 })).toBeError('INVALID_ID');
      expect(await api.patch('/v1/posts/abc', '{broken')).toBeError('INVALID_ID');
      expect(await api.patch('/v1/posts/999999999', { title: 5 })).toBeError('VALIDATION_ERROR');
      expect(await api.patch('/v1/posts/999999999', '{broken')).toBeError('VALIDATION_ERROR');
      expect(await api.patch('/v1/posts/999999999', { title: 'T' })).toBeError('NOT_FOUND');
    });
  });

  describe('DELETE {id}', () => {
    it.each([
      ['no content type', {}],
      ['a JSON content type and no body', { 'content-type': 'application/json' }],
      ['another content type', { 'content-type': 'text/plain' }],
    ])('deletes with %s, and responds without a body', async (_, headers: Record<string, string>) => {
      const { id } = await postsOf(api).create();

      const reply = await api.delete(`/v1/posts/${id}`, headers);

      expect(reply).toHaveStatus(204);
      expect(reply.text).toBe('');
      expect(await api.get(`/v1/posts/${id}`)).toBeError('NOT_FOUND');
      expect(await api.delete(`/v1/posts/${id}`)).toBeError('NOT_FOUND');
    });
  });

  describe.each(['GET', 'PATCH', 'DELETE'] as const)('%s with an id', (method) => {
    const send = (id: string) => {
      const payload = method === 'PATCH' ? '{}' : undefined;
      return api.send({ method, url: `/v1/posts/${id}`, ...(payload && { payload }) });
    };

    it.each([
      'abc',
      '1.0',
      '1e3',
      '0x1',
      '1_000',
      '--1',
      '+-1',
      '+',
      '-',
      '%20',
      '1%20',
      '%00',
      '%ff',
      '%',
      '%zz',
      '1%2F2',
      '１',
      '%F0%9F%98%80',
      'null',
      'NaN',
      '9223372036854775808',
      '-9223372036854775809',
      '9'.repeat(500),
      'a'.repeat(2000),
    ])('rejects %s, which is not a 64-bit integer', async (id) => {
      expect(await send(id)).toBeError('INVALID_ID');
    });

    it.each([
      '0',
      '-1',
      '-0',
      '9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
      '+9223372036854775807',
    ])('returns 404 for %s, which is valid and unknown', async (id) => {
      expect(await send(id)).toBeError('NOT_FOUND');
    });
  });

  it.each([
    '/posts',
    '/v2/posts',
    '/v1/posts/1/2',
    '/v1//posts',
    '/v1/posts//',
    '/V1/posts',
    '/v1/%70osts%ff',
  ])('%s is not found with any method', async (url) => {
    for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'OPTIONS'] as const)
      expect(await api.send({ method, url })).toBeError('NOT_FOUND');
  });

  it('runs a POST once for each Idempotency-Key, which stays valid after an error', async () => {
    const create = (body: unknown) => api.post('/v1/posts', body, { 'idempotency-key': 'a-post' });
    const post = { title: 'T', content: 'C', status: 'published' };
    expect(await api.post('/v1/posts', '{broken', { 'idempotency-key': 'a b' })).toBeError(
      'INVALID_IDEMPOTENCY_KEY',
    );
    for (const bad of ['{broken', { ...post, title: '' }])
      expect(await create(bad)).toBeError('VALIDATION_ERROR');
    const first = await create(post);
    const count = await postsOf(api).count();
    const again = await create(post);

    expect([first.status, again.text]).toEqual([201, first.text]);
    expect(await postsOf(api).count()).toBe(count);
  });

  it('reserves the word cursor for reads', async () => {
    expect(await api.get('/v1/posts/cursor')).toHaveStatus(200);
    expect(await api.send({ method: 'HEAD', url: '/v1/posts/cursor' })).toHaveStatus(200);
    expect(await api.patch('/v1/posts/cursor', {})).toBeError('INVALID_ID');
    expect(await api.delete('/v1/posts/cursor')).toBeError('INVALID_ID');
  });
});
