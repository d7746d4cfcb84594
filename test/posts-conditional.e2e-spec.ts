import { describe, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Post } from '../src/posts/post.entity.js';
import { PostsService } from '../src/posts/posts.service.js';
import { ViewCounter } from '../src/posts/view-counter.js';
import { sendIfMatch, tagOf, testEntityTags, testIfMatch } from './support/conditional.js';
import { onEach } from './support/on-each.js';
import { postsOf } from './support/posts.js';
import { startDuring } from './support/until-blocked.js';

onEach('conditional requests for posts', {}, ({ api, store }) => {
  describe('entity tags of posts', () => {
    describe.each(['/v1/posts', '/v1/users/1/posts'])('below %s', (path) => {
      testEntityTags(
        () => api,
        async () => `${path}/${(await postsOf(api).create()).id}`,
      );
    });

    it('change with a write by repository', async () => {
      const posts: Repository<Post> = api.app.get(getRepositoryToken(Post));
      const post = await postsOf(api).create();
      const before = tagOf(await api.get(`/v1/posts/${post.id}`));
      await posts.update({ id: post.id }, { content: 'Other' });
      expect(tagOf(await api.get(`/v1/posts/${post.id}`))).not.toBe(before);
    });

    it('do not change when views are counted, and a 304 counts as a view', async () => {
      const [cold, warm] = [await postsOf(api).create(), await postsOf(api).create()];
      const tag = tagOf(await api.get(`/v1/posts/${cold.id}`));
      const warmTag = tagOf(await api.send({ method: 'HEAD', url: `/v1/posts/${warm.id}` }));
      for (let n = 0; n < 3; n++) {
        expect(await api.get(`/v1/posts/${warm.id}`, { 'if-none-match': warmTag })).toHaveStatus(304);
      }
      await api.app.get(ViewCounter).onApplicationShutdown();

      const rows = await api.rows.all<{ views: number }>(
        `SELECT views FROM post_views WHERE post_id IN (${cold.id}, ${warm.id}) ORDER BY post_id`,
      );
      expect(rows.map(({ views }) => views)).toEqual([1, 3]);
      expect(tagOf(await api.get(`/v1/posts/${cold.id}`))).toBe(tag);
      expect(tagOf(await api.get(`/v1/posts/${warm.id}`))).toBe(warmTag);
    });

    it('are not sent with errors', async () => {
      for (const path of ['/v1/posts/999999999', '/v1/posts/x']) {
        const reply = await api.get(path, { 'if-none-match': '*', 'if-match': 'x' });
        expect(reply.headers).not.toHaveProperty('etag');
        expect(reply.headers['cache-control']).toBe('no-cache');
      }
    });
  });

  describe('If-Match of posts', () => {
    describe.each(['PATCH', 'DELETE'] as const)('of %s', (method) => {
      const make = async () => `/v1/posts/${(await postsOf(api).create()).id}`;
      testIfMatch(() => api, method, make, '/v1/posts/999999999');

      it('does not match a post that is changed at the same time', async () => {
        const post = await postsOf(api).create();
        const path = `/v1/posts/${post.id}`;
        const tag = tagOf(await api.get(path));
        const reply = await startDuring(
          [api, store],
          () => api.app.get(PostsService).update(post.id, { content: 'Other' }),
          () => sendIfMatch(api, method, path, tag),
        );

        expect(reply).toBeError('PRECONDITION_FAILED');
        expect(await postsOf(api).get(post.id)).toMatchObject({ title: post.title, content: 'Other' });
      });

      it('does not match the tag of an XML that posts have not', async () => {
        const path = await make();
        const tag = tagOf(await api.get(path)).replace(/"$/, '.xml"');

        expect(await sendIfMatch(api, method, path, tag)).toBeError('PRECONDITION_FAILED');
      });
    });
  });
});
