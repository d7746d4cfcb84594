import { beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { caseFold } from '../src/platform/database/case-fold.js';
import { Database } from '../src/platform/database/database.js';
import { insertPosts } from '../src/posts/post-batch.js';
import { created, type Reply } from './support/api.js';
import { onEach } from './support/on-each.js';
import type { Post } from './support/posts.js';
import { shuffle } from './support/shuffle.js';
import { usersOf } from './support/users.js';

interface Viewed extends Post {
  views: number;
}

/** Titles of which several posts have each, and whose order of code points is not that of a language. */
const TITLES = ['beta', 'Beta', 'alpha', 'Über', 'alphabet', 'al', 'Gamma ray', '😀 beta', '\uFF21lpha'];
/** Some texts need the index, others have too few characters for it. */
const TEXTS = ['', 'ALPHA', 'bet', 'al', 'ÜBER', '😀', 'number 1', '7', 'nothing'];

/** Compares texts by their code points. */
const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const ORDERS = {
  created_at: (a: Viewed, b: Viewed) => byCodePoints(a.created_at, b.created_at),
  title: (a: Viewed, b: Viewed) => byCodePoints(a.title, b.title),
  views: (a: Viewed, b: Viewed) => a.views - b.views,
};
type SortBy = keyof typeof ORDERS;

/** In another order, which is the same in each run. */
const shuffled = <T>(values: readonly T[]): T[] => {
  const orders = fc.shuffledSubarray([...values], { minLength: values.length });
  return fc.sample(orders, { numRuns: 1, seed: 1 })[0]!;
};

/** What a request for a list may select, and its order. */
const list = fc.record({
  author: fc.nat(2),
  status: fc.constantFrom('', 'draft', 'published'),
  q: fc.constantFrom(...TEXTS),
  sortBy: fc.constantFrom<SortBy>('created_at', 'title', 'views'),
  direction: fc.constantFrom('ASC' as const, 'DESC' as const),
  limit: fc.integer({ min: 4, max: 50 }),
});
type List = typeof list extends fc.Arbitrary<infer Value> ? Value : never;

onEach('all parameters of lists of posts together', {}, ({ api }) => {
  let posts: Viewed[];
  let authors: number[];

  beforeAll(async () => {
    authors = [];
    for (let n = 0; n < 3; n++) authors.push(Number((await usersOf(api).create()).id));
    const hours = shuffled(Array.from({ length: 45 }, (_, n) => n));
    await insertPosts(
      api.app.get(Database),
      hours.map((hour, n) => ({
        title: TITLES[n % TITLES.length]!,
        content: `Number ${n}`,
        status: n % 2 === 0 ? 'draft' : 'published',
        authorId: authors[n % 3]!,
        // Some are of the same time.
        createdAt: new Date(Date.UTC(2026, 0, 1, hour - (hour % 3))),
      })),
    );
    for (let n = 0; n < 5; n++) created(await api.post('/v1/posts', { title: 'beta', content: 'New' }));
    const ids = (await api.get('/v1/posts?limit=100')).body.data.map(({ id }: Post) => id);
    posts = [];
    // Each is changed once.
    for (const [n, id] of shuffled<number>(ids).entries()) {
      const change = [{ status: 'draft' }, { status: 'published' }, { title: TITLES[n % 5]! }, {}][n % 4]!;
      posts.push({ ...(await api.patch(`/v1/posts/${id}`, change)).body.data, views: n % 4 });
    }
    const deleted = posts.splice(10, 5);
    for (const { id } of deleted) await api.delete(`/v1/posts/${id}`);
    for (const { id, views } of posts) for (let n = 0; n < views; n++) await api.getOnly(`/v1/posts/${id}`);
    await shuffle(api, 'posts');
    // Views are written when the process stops.
    await api.restart();
  });

  /** The answer of a plain filter and sort. */
  function matching({ status, q, sortBy, direction }: List, authorId?: number): Post[] {
    const sign = direction === 'ASC' ? 1 : -1;
    return posts
      .filter(
        (post) =>
          (authorId === undefined || post.author_id === authorId) &&
          (status === '' || post.status === status) &&
          [post.title, post.content].some((text) => caseFold(text).includes(caseFold(q))),
      )
      .toSorted((a, b) => sign * (ORDERS[sortBy](a, b) || a.id - b.id))
      .map(({ views: _views, ...post }) => post);
  }

  const check = (test: (asked: List) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(list, test), { numRuns: 40 });

  it.each(['of all', 'of a user'])('give the pages of a plain filter: %s', async (which) => {
    await check(async (asked) => {
      const authorId = which === 'of all' ? undefined : authors[asked.author]!;
      const path = authorId === undefined ? '/v1/posts' : `/v2/users/${authorId}/posts`;
      const expected = matching(asked, authorId);
      const { status, q, sortBy, direction, limit } = asked;
      const last = Math.ceil(expected.length / limit) + 1;
      for (const page of [1, 2, last]) {
        const query = { status, q, sort_by: sortBy, sort_dir: direction, limit: `${limit}`, page: `${page}` };
        const { body } = await api.get(`${path}?${new URLSearchParams(query).toString()}`);
        expect(body).toEqual({
          data: expected.slice((page - 1) * limit, page * limit),
          meta: { total: expected.length, page, limit, has_next: page * limit < expected.length },
        });
      }
    });
  });

  it.each(['/v1/posts/cursor?', '/v1/posts?cursor=&'])('give each post once: %s', async (path) => {
    await check(async (asked) => {
      const { status, q, limit } = asked;
      const found: Post[] = [];
      const query = new URLSearchParams({ status, q, limit: `${limit}` });
      for (let url = `${path}${query.toString()}`; ;) {
        const page = (await api.get(url)).body;
        found.push(...page.data);
        if (!page.has_next) break;
        query.set('cursor', page.next_cursor);
        url = `${path.split('?')[0]!}?${query.toString()}`;
      }
      expect(found).toEqual(matching(asked).toSorted((a, b) => a.id - b.id));
    });
  });

  it('give each post once over GraphQL', async () => {
    const query = `query ($first: Int, $after: String, $status: PostStatus, $q: String, $orderBy: PostOrder) {
      posts(first: $first, after: $after, status: $status, q: $q, orderBy: $orderBy) {
        totalCount nodes { id title } pageInfo { hasNextPage endCursor }
      }
    }`;
    await check(async (asked) => {
      const { status, q, sortBy, direction, limit } = asked;
      const field = sortBy === 'created_at' ? 'createdAt' : sortBy;
      const found: unknown[] = [];
      const expected = matching(asked);
      let after: string | null = null;
      do {
        const variables = { first: limit, after, status: status || null, q, orderBy: { field, direction } };
        const reply: Reply = await api.graphql(query, variables);
        const { nodes, pageInfo, totalCount } = reply.body.data.posts;
        expect(totalCount).toBe(expected.length);
        found.push(...nodes);
        after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      } while (after !== null);
      expect(found).toEqual(expected.map(({ id, title }) => ({ id: String(id), title })));
    });
  });

  it('give the newest posts of a user over GraphQL', async () => {
    const query =
      'query ($id: ID!, $page: Int, $limit: Int) { user(id: $id) { posts(page: $page, limit: $limit) { id } } }';
    await check(async ({ author, limit }) => {
      const newest = matching(
        { author, status: '', q: '', sortBy: 'created_at', direction: 'DESC', limit },
        authors[author],
      );
      for (const page of [1, 2]) {
        const { data } = (await api.graphql(query, { id: authors[author], page, limit })).body;
        const expected = newest.slice((page - 1) * limit, page * limit);
        expect(data.user.posts).toEqual(expected.map(({ id }) => ({ id: String(id) })));
      }
    });
  });
});
