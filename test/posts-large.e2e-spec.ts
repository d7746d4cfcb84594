import { beforeAll, describe, expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';
import { type Post, postsOf } from './support/posts.js';

const KIB = 1024;

onEach('large texts of posts', {}, ({ api }) => {
  describe('large pages of posts', () => {
    beforeAll(async () => {
      const sizes = [10, 8 * KIB, 8 * KIB + 1, 490_000, 490_000, 490_000];
      for (const [n, size] of sizes.entries())
        await postsOf(api).create({ title: `Post ${n}`, content: 'é'.repeat(size) });
      await api.listen();
    });

    it.each([
      ['/v1/posts?sort_by=created_at&sort_dir=asc&limit=5', 5],
      ['/v1/posts/cursor?limit=5', 5],
      ['/v2/users/1/posts?sort_dir=asc&limit=3', 3],
    ])('%s is streamed with the same content as in one piece', async (url, count) => {
      const response = await fetch(`${await api.app.getUrl()}${url}`);
      const { data, ...rest } = (await response.json()) as any;

      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('link')).toContain('rel="next"');
      expect(data).toHaveLength(count);
      for (const post of data) {
        const one = (await api.get(`/v1/posts/${post.id}`)).body.data;
        expect(post).toEqual(one);
        expect(Object.keys(post)).toEqual(Object.keys(one));
      }
      const whole = (await api.get(url.replace(/limit=\d/, 'limit=2'))).body;
      expect(Object.keys(rest)).toEqual(Object.keys(whole).slice(1));
    });
  });

  describe('large lists of posts', () => {
    it('return correct results for deep pages, short texts, and sorting without an index', async () => {
      const titles = Array.from({ length: 1200 }, (_, n) => `${n % 7} of ${n}`);
      await postsOf(api).createBy(1, titles);
      // The views of the posts above may be stored at any time.
      await api.rows.execute(`UPDATE posts SET status = 'published' WHERE id % 3 = 0 AND id > 6`);
      const all: Post[] = [];
      for (let page = 1; page <= 13; page++) {
        all.push(...(await api.get(`/v1/posts?limit=100&page=${page}`)).body.data);
      }
      const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
      const by = (key: 'title' | 'created_at', sign: 1 | -1) => (a: Post, b: Post) =>
        sign * (compare(a[key], b[key]) || compare(a.id, b.id));

      const expectList = async (query: string, expected: Post[]) => {
        const ids: number[] = [];
        for (let page = 1; page <= 13; page++) {
          const { data, meta } = (await api.get(`/v1/posts?limit=100&page=${page}&${query}`)).body;
          expect(meta.total).toBe(expected.length);
          ids.push(...data.map(({ id }: Post) => id));
        }
        expect(ids).toEqual(expected.map(({ id }) => id));
      };
      const published = all.filter(({ status }) => status === 'published');
      await expectList('sort_by=title&sort_dir=asc', all.toSorted(by('title', 1)));
      await expectList('status=published&sort_by=title', published.toSorted(by('title', -1)));
      await expectList(
        'sort_by=views&sort_dir=asc&status=published',
        published.toSorted((a, b) => a.id - b.id),
      );
      await expectList(
        'q=3+',
        all.filter(({ title }) => title.includes('3 ')).toSorted(by('created_at', -1)),
      );
      const own = (await api.get('/v1/users/1/posts?sort_by=title&limit=100&page=3')).body.data;
      expect(own).toEqual(all.toSorted(by('title', -1)).slice(200, 300));
      const newest = await api.graphql('{ user(id: 1) { posts(page: 12, limit: 100) { id } } }');
      expect(newest.body.data.user.posts.map(({ id }: { id: string }) => Number(id))).toEqual(
        all.slice(1100, 1200).map(({ id }) => id),
      );
    });

    const found = async (q: string) =>
      (await api.get(`/v1/posts?q=${encodeURIComponent(q)}&sort_dir=asc`)).body.data.map(
        ({ id }: Post) => id,
      );

    it('are found by their whole text after any change of size', async () => {
      const filler = 'é'.repeat(32_768);
      const small = await postsOf(api).create({ content: 'a needle' });
      const large = await postsOf(api).create({ title: 'Large', content: `${filler}a needle` });
      const grown = await postsOf(api).create({ content: 'a thimble' });
      expect(await found('needle')).toEqual([small.id, large.id]);
      expect(await found('LARGE')).toEqual([large.id]);

      await api.patch(`/v1/posts/${grown.id}`, { content: `a needle${filler}` });
      await api.patch(`/v1/posts/${large.id}`, { content: 'a thimble' });
      expect(await found('needle')).toEqual([small.id, grown.id]);
      expect(await found('thimble')).toEqual([large.id]);

      await api.patch(`/v1/posts/${grown.id}`, { title: 'Grown' });
      await api.delete(`/v1/posts/${small.id}`);
      expect(await found('needle')).toEqual([grown.id]);
      expect(await found('grown')).toEqual([grown.id]);
    });
  });
});
