import { describe, expect, it } from '@jest/globals';
import { sendIfMatch, tagOf } from './support/conditional.js';
import { onEach } from './support/on-each.js';
import { postsOf } from './support/posts.js';
import { usersOf } from './support/users.js';

onEach('users with posts', {}, ({ api }) => {
  it('reject the deletion of the default author, and of users with posts', async () => {
    const { id } = await usersOf(api).create();
    await postsOf(api).createBy(Number(id), ['A post']);

    expect(await api.delete('/v1/users/1')).toBeError('CONFLICT');
    expect(await api.delete(`/v2/users/${id}`)).toBeError('CONFLICT');
    expect(await usersOf(api).get(id)).toMatchObject({ id });
  });

  it('never leave a post without its author in a race', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await usersOf(api).create();
      const [deleted] = await Promise.all([
        api.delete(`/v2/users/${id}`),
        postsOf(api)
          .createBy(Number(id), ['A post'])
          .catch(() => undefined),
      ]);

      const posts = await api.get(`/v2/users/${id}/posts`);
      const [status, total] = deleted.status === 204 ? [404, undefined] : [200, 1];
      expect(posts).toHaveStatus(status);
      expect(posts.body.meta?.total).toBe(total);
    }
  });

  it('is checked before the conflict of a user with posts', async () => {
    await postsOf(api).create();
    expect(await sendIfMatch(api, 'DELETE', '/v1/users/1', '"x"')).toBeError('PRECONDITION_FAILED');
    expect(await sendIfMatch(api, 'DELETE', '/v1/users/1', tagOf(await api.get('/v1/users/1')))).toBeError(
      'CONFLICT',
    );
  });

  describe.each(['/v1', '/v2'])("%s: a user's posts", (version) => {
    it('are listed with the parameters of all posts', async () => {
      const { id } = await usersOf(api).create();
      await postsOf(api).createBy(Number(id), ['a', 'c', 'b']);
      const list = async (query: string) => {
        const { data, meta } = (await api.get(`${version}/users/${id}/posts?${query}`)).body;
        return { titles: data.map(({ title }: { title: string }) => title), meta };
      };

      expect(await list('')).toEqual({
        titles: ['b', 'c', 'a'],
        meta: { total: 3, page: 1, limit: 20, has_next: false },
      });
      expect(await list('sort_by=title&sort_dir=asc&limit=2')).toEqual({
        titles: ['a', 'b'],
        meta: { total: 3, page: 1, limit: 2, has_next: true },
      });
      expect((await list('q=C')).titles).toEqual(['b', 'c', 'a']);
      expect(await list('status=published')).toMatchObject({ titles: [], meta: { total: 0 } });
      expect(await list('status=draft&page=2&limit=2')).toMatchObject({ titles: ['a'], meta: { total: 3 } });
      expect((await api.get(`${version}/users/${id}/posts`)).headers['link']).toContain('rel="first"');
    });

    it('are read one by one, only under their author', async () => {
      const { id } = await usersOf(api).create();
      await postsOf(api).createBy(Number(id), ['A post']);
      const [post] = (await api.get(`${version}/users/${id}/posts`)).body.data;

      expect((await api.get(`${version}/users/${id}/posts/${post.id}`)).body).toEqual({ data: post });
      expect(post).toEqual(await postsOf(api).get(post.id));
      expect(await api.get(`${version}/users/1/posts/${post.id}`)).toBeError('NOT_FOUND');
    });
  });
});
