import { beforeAll, expect, it } from '@jest/globals';
import { invalidBodies, MAX_ITEMS, OTHER_TYPES, withItems } from './support/bodies.js';
import { onEach } from './support/on-each.js';
import { type Post, postsOf } from './support/posts.js';

const POST = { title: 'T', content: 'C' };

onEach('bodies of posts', {}, ({ api }) => {
  let existing: Post;
  beforeAll(async () => {
    existing = await postsOf(api).create();
  });

  it.each(invalidBodies('title', ',"content":"C"'))(
    'rejects %s on POST and on PATCH, and stores nothing',
    async (_, body) => {
      const created = await api.post('/v1/posts', body);
      const patched = await api.patch(`/v1/posts/${existing.id}`, body);

      for (const reply of [created, patched]) {
        expect(reply).toBeError('VALIDATION_ERROR');
        expect(reply.body.error).not.toHaveProperty('details');
      }
      expect(await postsOf(api).count()).toBe(1);
      expect(await postsOf(api).get(existing.id)).toEqual(existing);
    },
  );

  it.each([...OTHER_TYPES, ['JSON with a charset', 'application/json; charset=utf-8'] as const])(
    'reads JSON with any content type: %s',
    async (_, type) => {
      const reply = await api.send({
        method: 'PATCH',
        url: `/v1/posts/${existing.id}`,
        payload: Buffer.from('{"title":"Read"}'),
        headers: type === undefined ? {} : { 'content-type': type },
      });

      expect(reply).toHaveStatus(200);
      expect(reply.body.data.title).toBe('Read');
      existing = reply.body.data;
    },
  );

  it('rejects a missing body', async () => {
    expect(await api.send({ method: 'POST', url: '/v1/posts' })).toBeError('VALIDATION_ERROR');
    expect(await api.send({ method: 'PATCH', url: `/v1/posts/${existing.id}` })).toBeError(
      'VALIDATION_ERROR',
    );
  });

  it('accepts a body of 1 MiB, and rejects one byte more', async () => {
    const frame = '{"title":"T","content":""}';
    const body = (size: number) => frame.replace('""', `"${'c'.repeat(size - frame.length)}"`);

    const { id } = (await api.post('/v1/posts', body(1024 * 1024))).body.data;
    expect(await api.post('/v1/posts', body(1024 * 1024 + 1))).toBeError('PAYLOAD_TOO_LARGE');
    await api.delete(`/v1/posts/${id}`);
  });

  it('accepts 10,000 members and array elements in all, and rejects one more', async () => {
    const { id } = (await api.post('/v1/posts', withItems(MAX_ITEMS, POST))).body.data;
    expect(await api.patch(`/v1/posts/${id}`, withItems(MAX_ITEMS, {}))).toHaveStatus(200);
    expect(await api.post('/v1/posts', withItems(MAX_ITEMS + 1, POST))).toBeError('VALIDATION_ERROR');
    expect(await api.patch(`/v1/posts/${id}`, withItems(MAX_ITEMS + 1, {}))).toBeError('VALIDATION_ERROR');
    await api.delete(`/v1/posts/${id}`);
  });

  it('ignores undeclared fields with thousands of members', async () => {
    const many = Object.fromEntries(Array.from({ length: 4900 }, (_, n) => [`k${n}`, n]));

    const { id, title } = (await api.post('/v1/posts', { ...POST, ...many, more: many })).body.data;

    expect(title).toBe(POST.title);
    expect(await api.post('/v1/posts', { ...POST, title: many })).toBeError('VALIDATION_ERROR');
    await api.delete(`/v1/posts/${id}`);
  });

  it('keeps every character of a well-formed text', async () => {
    const content = '\u0001\t\r\n"\\/\u007f\u0085\u2028é漢字😀\uFFFD\uFFFF\u{10FFFF}e\u0301';

    const { id } = await postsOf(api).create({ content });

    expect((await postsOf(api).get(id)).content).toBe(content);
  });
});
