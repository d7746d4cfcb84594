import { beforeAll, describe, expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';
import { type Post, postsOf } from './support/posts.js';

const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();

onEach('GET /v1/posts', {}, ({ api }) => {
  let posts: Post[];

  const list = async (search: string) => (await api.get(`/v1/posts?${search}`)).body;
  const ids = async (search: string): Promise<number[]> =>
    (await list(search)).data.map(({ id }: Post) => id);

  beforeAll(async () => {
    posts = [];
    for (let n = 1; n <= 45; n++) {
      const status = n % 3 === 0 ? 'published' : 'draft';
      posts.push(await postsOf(api).create({ title: `Number ${n}`, content: `Content of ${n}`, status }));
    }
  });

  it('returns the newest first, 20 per page, with the total', async () => {
    const reply = await api.get('/v1/posts');

    expect(reply).toHaveStatus(200);
    expect(reply.body.data).toEqual(posts.toReversed().slice(0, 20));
    expect(reply.body.meta).toEqual({ total: 45, page: 1, limit: 20, has_next: true });
  });

  it.each([
    ['page=3', { page: 3, limit: 20, has_next: false }, 5],
    ['page=2&limit=22', { page: 2, limit: 22, has_next: true }, 22],
    ['page=5&limit=9', { page: 5, limit: 9, has_next: false }, 9],
    ['limit=1', { page: 1, limit: 1, has_next: true }, 1],
    ['limit=100', { page: 1, limit: 100, has_next: false }, 45],
    ['page=4', { page: 4, limit: 20, has_next: false }, 0],
    ['page=%2B2', { page: 2, limit: 20, has_next: true }, 20],
    ['page=002&limit=010', { page: 2, limit: 10, has_next: true }, 10],
    ['page=1&page=2', { page: 1, limit: 20, has_next: true }, 20],
    ['limit=5&limit=7', { page: 1, limit: 5, has_next: true }, 5],
  ])('returns the page of ?%s', async (search, meta, length) => {
    const page = await list(search);

    expect(page.meta).toEqual({ total: 45, ...meta });
    expect(page.data).toHaveLength(length);
  });

  it.each([
    '',
    '0',
    '-1',
    'abc',
    '1.5',
    '1e1',
    ' 2',
    '2 ',
    '0x2',
    '２',
    '9223372036854775808',
    '9'.repeat(400),
  ])('replaces the page %j by 1', async (page) => {
    expect((await list(query({ page }))).meta).toEqual({ total: 45, page: 1, limit: 20, has_next: true });
  });

  it.each(['', '0', '-1', '101', '1000', 'abc', '5.0', '9'.repeat(400), '\0'])(
    'replaces the limit %j by 20 instead of clamping it',
    async (limit) => {
      expect((await list(query({ limit }))).meta.limit).toBe(20);
    },
  );

  it('treats page[] as an unknown parameter', async () => {
    expect((await list('page[]=3&page%5B%5D=4')).meta.page).toBe(1);
  });

  it.each(['9007199254740993', '9223372036854775807', '922337203685477581'])(
    'returns an empty page %s, with the requested number',
    async (page) => {
      const reply = await api.get(`/v1/posts?page=${page}`);

      expect(reply.text).toBe(`{"data":[],"meta":{"total":45,"page":${page},"limit":20,"has_next":false}}`);
    },
  );

  it('returns each post exactly once over all pages', async () => {
    const seen: number[] = [];
    for (let page = 1; page <= 7; page++) seen.push(...(await ids(`page=${page}&limit=7`)));

    expect(seen).toEqual(posts.map(({ id }) => id).toReversed());
  });

  describe('filters', () => {
    it('select by status, and the total counts the matches', async () => {
      const page = await list('status=published&limit=4');

      expect(page.meta).toEqual({ total: 15, page: 1, limit: 4, has_next: true });
      expect(page.data.map(({ status }: Post) => status)).toEqual(Array(4).fill('published'));
    });

    it('have no effect when empty', async () => {
      expect((await list('status=&q=')).meta.total).toBe(45);
    });

    it.each(['archived', 'DRAFT', ' draft', 'draft ', '\0', 'draft\0'])(
      'match nothing for an unknown status: %j',
      async (status) => {
        expect(await list(query({ status }))).toEqual({
          data: [],
          meta: { total: 0, page: 1, limit: 20, has_next: false },
        });
      },
    );

    it('combine status and text', async () => {
      expect(await ids('status=published&q=number%203')).toEqual([39, 36, 33, 30, 3]);
    });
  });

  describe('sorts', () => {
    it.each([
      ['sort_dir=asc', [1, 2, 3]],
      ['sort_dir=ASC', [1, 2, 3]],
      ['sort_dir=aSc&sort_by=created_at', [1, 2, 3]],
      ['sort_dir=sideways', [45, 44, 43]],
      ['sort_dir=', [45, 44, 43]],
      ['sort_by=title&sort_dir=asc', [1, 10, 11]],
      ['sort_by=title', [9, 8, 7]],
      ['sort_by=id', [45, 44, 43]],
      ['sort_by=TITLE', [45, 44, 43]],
      ['sort_by=content;DROP TABLE posts', [45, 44, 43]],
      ['sort_by=views', [45, 44, 43]],
      ['sort_by=views&sort_dir=asc', [1, 2, 3]],
    ])('sorts by ?%s', async (search, expected) => {
      expect(await ids(`${search}&limit=3`)).toEqual(expected);
    });
  });

  describe('Link', () => {
    const links = async (search: string) => {
      const { headers } = await api.get(`/v1/posts${search}`);
      return Object.fromEntries(
        [...(headers['link'] ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, url, relation]) => [
          relation,
          url,
        ]),
      );
    };

    it('links to the first, next and last page', async () => {
      expect(await links('')).toEqual({
        first: '/v1/posts?page=1',
        next: '/v1/posts?page=2',
        last: '/v1/posts?page=3',
      });
      expect(await links('?limit=15')).toHaveProperty('last', '/v1/posts?limit=15&page=3');
    });

    it('keeps the other parameters', async () => {
      expect(await links('?page=2&limit=10&status=draft&q=a%26b%3E')).toEqual({
        first: '/v1/posts?page=1&limit=10&status=draft&q=a%26b%3E',
        prev: '/v1/posts?page=1&limit=10&status=draft&q=a%26b%3E',
        last: '/v1/posts?page=1&limit=10&status=draft&q=a%26b%3E',
      });
    });

    it('repeats the other parameters without encoding them again, which keeps it short', async () => {
      const sent = `q=${'!()~*'.repeat(100)}&page=2&limit=10`;
      const { headers } = await api.get(`/v1/posts?${sent}`);

      expect(headers['link']).toContain(`</v1/posts?${sent.replace('page=2', 'page=1')}>; rel="first"`);
    });

    it('escapes special characters of the address', async () => {
      const reply = await api.send({ method: 'GET', url: '/v1/posts?limit=1&x=">\x80,<y' });

      expect(reply.headers['link']).toMatch(
        /^<\/v1\/posts\?limit=1&x=%22%3e(%[0-9a-f]{2})+,%3cy&page=1>; rel="first"/i,
      );
    });

    it('links back to the last page from beyond the end', async () => {
      expect(await links('?page=9223372036854775807')).toMatchObject({ prev: '/v1/posts?page=3' });
    });

    it('leads through all pages to the end', async () => {
      const seen: number[] = [];
      let next: string | undefined = '/v1/posts?limit=10&sort_dir=asc';
      while (next) {
        const reply = await api.get(next);
        seen.push(...reply.body.data.map(({ id }: Post) => id));
        next = /<([^>]*)>; rel="next"/.exec(reply.headers['link'] ?? '')?.[1];
      }
      expect(seen).toEqual(posts.map(({ id }) => id));
    });

    it('is omitted if the address of the request exceeds 2 KiB', async () => {
      const reply = await api.get(`/v1/posts?x=${'y'.repeat(2048)}`);

      expect(reply).toHaveStatus(200);
      expect(reply.headers).not.toHaveProperty('link');
    });
  });

  describe.each(['/v1/posts/cursor?', '/v1/posts?cursor=&'])('by cursor at %s', (path) => {
    it('returns posts by ascending id, with the next cursor', async () => {
      const reply = await api.get(`${path}limit=2`);

      expect(reply).toHaveStatus(200);
      expect(reply.body).toEqual({ data: posts.slice(0, 2), next_cursor: btoa('2'), has_next: true });
      expect(reply.headers['link']).toContain('cursor=Mg%3D%3D');
    });

    it('omits next_cursor on the last page', async () => {
      const { body, headers } = await api.get(`${path}limit=45`);

      expect(Object.keys(body)).toEqual(['data', 'has_next']);
      expect(body.has_next).toBe(false);
      expect(headers).not.toHaveProperty('link');
    });

    it.each(['0', '101', 'abc', ''])('replaces the limit %j by 20', async (limit) => {
      expect((await api.get(`${path}limit=${limit}`)).body.data).toHaveLength(20);
    });

    it('filters by status and text', async () => {
      const { body } = await api.get(`${path}status=published&q=NUMBER+3`);

      expect(body.data.map(({ id }: Post) => id)).toEqual([3, 30, 33, 36, 39]);
      expect(body.has_next).toBe(false);
    });

    it('is empty for an unknown status', async () => {
      expect((await api.get(`${path}status=archived`)).body).toEqual({ data: [], has_next: false });
    });
  });

  describe('cursors', () => {
    it('return each post exactly once, and Link contains next_cursor', async () => {
      const seen: number[] = [];
      let url: string | undefined = '/v1/posts/cursor?limit=8';
      while (url) {
        const { body, headers }: any = await api.get(url);
        seen.push(...body.data.map(({ id }: Post) => id));
        url = body.has_next ? `/v1/posts?cursor=${encodeURIComponent(body.next_cursor)}&limit=8` : undefined;
        expect(/cursor=([^&>]*)/.exec(headers['link'] ?? '')?.[1]).toBe(
          body.next_cursor && encodeURIComponent(body.next_cursor),
        );
      }
      expect(seen).toEqual(posts.map(({ id }) => id));
    });

    it('continue after a deleted post', async () => {
      const [a, b, c] = [
        await postsOf(api).create(),
        await postsOf(api).create(),
        await postsOf(api).create(),
      ];
      await api.delete(`/v1/posts/${b.id}`);

      const { body } = await api.get(`/v1/posts/cursor?cursor=${btoa(String(b.id))}`);

      expect(body.data).toEqual([c]);
      for (const { id } of [a, c]) await api.delete(`/v1/posts/${id}`);
    });

    it.each(['0', '9007199254740993', '9223372036854775807'])('accept the id %s', async (id) => {
      expect(await api.get(`/v1/posts/cursor?cursor=${encodeURIComponent(btoa(id))}`)).toHaveStatus(200);
    });

    it.each([
      ['invalid base64', '!!!'],
      ['an unencoded number', '12'],
      ['text', btoa('abc')],
      ['a negative number', btoa('-1')],
      ['a signed number', btoa('+1')],
      ['a number with a leading zero', btoa('01')],
      ['a number with a blank', btoa('1 ')],
      ['a fraction', btoa('1.5')],
      ['2^63', btoa('9223372036854775808')],
      ['base64 without its padding', 'Mg'],
      ['base64 with too much padding', 'Mg==='],
      ['other trailing bits', 'Mh=='],
      ['the URL-safe alphabet', 'Mg-_'],
      ['a line feed inside', 'M\ng=='],
      ['blanks around', ' Mg=='],
      ['NUL', '\0'],
      ['a blank', ' '],
      ['a very long cursor', 'Mg=='.repeat(500)],
    ])('are rejected: %s', async (_, cursor) => {
      for (const path of ['/v1/posts', '/v1/posts/cursor']) {
        expect(await api.get(`${path}?${query({ cursor })}`)).toBeError('INVALID_CURSOR');
      }
    });
  });
});

onEach('the order of titles', {}, ({ api }) => {
  it('is by code point, then by id, in both directions', async () => {
    const titles = ['b', 'B', 'a', 'ä', 'Z', '_', '10', '9', '￿', '😀', 'é', 'a', '', 'ﬀ'].filter(Boolean);
    for (const title of titles) await postsOf(api).create({ title });
    const byCodePoint = titles
      .map((title, index) => ({ title, id: index + 1 }))
      .toSorted((a, b) => Buffer.compare(Buffer.from(a.title), Buffer.from(b.title)) || a.id - b.id)
      .map(({ id }) => id);

    const ids = async (direction: string) =>
      (await api.get(`/v1/posts?sort_by=title&sort_dir=${direction}`)).body.data.map(({ id }: Post) => id);

    expect(await ids('asc')).toEqual(byCodePoint);
    expect(await ids('desc')).toEqual(byCodePoint.toReversed());
  });
});
