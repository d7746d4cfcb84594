import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from './support/api.js';
import { postsOf } from './support/posts.js';
import { statementsOf } from './support/statements.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';
import { usersOf } from './support/users.js';

/** Titles in no order, some of them equal; code points, UTF-16 units and letter cases would sort them differently. */
const TITLES = ['b', 'B', 'a', '', '\uFFFD', '😀', 'a', 'é', 'b', 'Z', 'a"\\', 'e\u0301'].map(
  (title) => `${title} post`,
);

const ORDERS = ['createdAt', 'title', 'views'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => [field, direction] as const),
);

const PAGE = `query ($first: Int, $after: String, $status: PostStatus, $q: String, $orderBy: PostOrder) {
  posts(first: $first, after: $after, status: $status, q: $q, orderBy: $orderBy) {
    edges { cursor node { id title } }
    nodes { id }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
  }
}`;

describe.each(STORES)('connections of posts on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
    for (let n = 0; n < 3; n++) await usersOf(api).create({ name: `Author ${n}` });
    // Two have the same time.
    await postsOf(api).createBy(2, TITLES);
    await postsOf(api).createBy(3, ['Twin', 'Twin']);
    for (const id of [3, 3, 5, 7, 7, 7]) await api.get(`/v1/posts/${id}`);
    await api.patch('/v1/posts/4', { status: 'published' });
    await api.patch('/v1/posts/9', { status: 'published' });
    await until('the views are written', async () => {
      const { data } = (await api.get('/v1/posts?sort_by=views&limit=1')).body;
      return data[0].id === 7;
    });
  });
  afterAll(() => api.stop());

  const page = async (variables: object = {}): Promise<any> => {
    const { data, errors } = (await api.graphql(PAGE, variables)).body;
    expect(errors).toBeUndefined();
    return data.posts;
  };
  const codeOf = async (variables: object): Promise<any> =>
    (await api.graphql(PAGE, variables)).body.errors?.[0].extensions.code;

  /** Reads a list to its end. @param between runs between two pages */
  async function readAll(variables: object, between?: (page: number) => Promise<unknown>): Promise<number[]> {
    const ids: number[] = [];
    let after: string | null = null;
    for (let number = 1; ; number++) {
      const { edges, pageInfo } = await page({ ...variables, after });
      ids.push(...edges.map(({ node }: any) => Number(node.id)));
      if (!pageInfo.hasNextPage) return ids;
      after = pageInfo.endCursor;
      await between?.(number);
    }
  }

  /** The same list over REST. */
  async function idsOverRest(query: string): Promise<number[]> {
    return (await api.get(`/v1/posts?limit=100&${query}`)).body.data.map(({ id }: { id: number }) => id);
  }

  const sortBy = (field: string) => (field === 'createdAt' ? 'created_at' : field);

  describe.each(ORDERS)('by %s %s', (field, direction) => {
    const orderBy = { field, direction };
    const rest = `sort_by=${sortBy(field)}&sort_dir=${direction}`;

    it.each([1, 3, 13, 14, 100])('have every post once, in pages of %i', async (first) => {
      expect(await readAll({ orderBy, first })).toEqual(await idsOverRest(rest));
    });

    it('are filtered by status and text', async () => {
      expect(await readAll({ orderBy, first: 2, status: 'draft' })).toEqual(
        await idsOverRest(`${rest}&status=draft`),
      );
      expect(await readAll({ orderBy, first: 2, q: 'POST' })).toEqual(await idsOverRest(`${rest}&q=post`));
      expect(await readAll({ orderBy, first: 1, q: 'É' })).toEqual(await idsOverRest(`${rest}&q=%C3%A9`));
      expect(await readAll({ orderBy, first: 1, q: 'b post', status: 'draft' })).toEqual(
        await idsOverRest(`${rest}&q=b+post&status=draft`),
      );
    });

    it('reject the cursor of another order', async () => {
      const { endCursor } = (await page({ orderBy, first: 2 })).pageInfo;

      for (const [otherField, otherDirection] of ORDERS) {
        const isSame = otherField === field && otherDirection === direction;
        const other = { field: otherField, direction: otherDirection };
        expect(await codeOf({ orderBy: other, after: endCursor })).toBe(
          isSame ? undefined : 'BAD_USER_INPUT',
        );
      }
    });

    it('continue after a post that was deleted, and are not shifted by new posts', async () => {
      const before = await idsOverRest(rest);
      const created: number[] = [];
      const deleted: number[] = [];
      const seen = await readAll({ orderBy, first: 3 }, async (number) => {
        created.push((await postsOf(api).create({ title: `${field} ${number}` })).id);
        // The last post of the page that was read, and one that was not read yet.
        const { edges } = await page({ orderBy, first: 3 });
        const gone = number === 1 ? [edges[2].node.id] : [];
        for (const id of gone) await api.delete(`/v1/posts/${id}`);
        deleted.push(...gone.map(Number));
      });

      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => !created.includes(id))).toEqual(before);
      for (const id of created) await api.delete(`/v1/posts/${id}`);
      for (const title of deleted) await postsOf(api).createBy(2, [`Again ${title}`]);
    });
  });

  it('have cursors, nodes and the state of the page', async () => {
    const ids = await idsOverRest('');
    const first = await page({ first: 2 });

    expect(first.nodes.map(({ id }: any) => Number(id))).toEqual(ids.slice(0, 2));
    expect(first.totalCount).toBe(ids.length);
    expect(first.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: first.edges[0].cursor,
      endCursor: first.edges[1].cursor,
    });
    const second = await page({ first: 100, after: first.edges[0].cursor });
    expect(second.nodes.map(({ id }: any) => Number(id))).toEqual(ids.slice(1));
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const { endCursor } = second.pageInfo;
    expect(await page({ after: endCursor })).toEqual({
      edges: [],
      nodes: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
      totalCount: ids.length,
    });
    expect((await page({ status: 'published' })).totalCount).toBe(
      (await idsOverRest('status=published')).length,
    );
    expect((await page({ q: 'no post has this' })).totalCount).toBe(0);
    expect((await page({ q: 'NUL \0' })).totalCount).toBe(0);
  });

  it('have a page of 20 where `first` is no length, and treat an empty text as absent', async () => {
    await postsOf(api).createBy(
      2,
      Array.from({ length: 12 }, (_, n) => `Filler ${n}`),
    );

    for (const first of [undefined, null, 0, -1, 101, 2_147_483_647])
      expect((await page({ first })).edges).toHaveLength(20);
    expect((await page({ first: 100 })).edges.length).toBeGreaterThan(20);
    expect(await page({ after: '', q: '', orderBy: null })).toEqual(await page());
    expect(await page({ orderBy: { field: null, direction: null } })).toEqual(await page());
    expect(await page({ orderBy: { direction: 'ASC' } })).toEqual(
      await page({ orderBy: { field: 'createdAt', direction: 'ASC' } }),
    );
    expect((await api.graphql('{ posts { nodes { id } } }')).body.data.posts.nodes).toHaveLength(20);
  });

  const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const NAME = 'posts by created_at DESC';
  const TIME = '2026-01-01T00:00:00.000Z';

  it.each([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('[').toString('base64url')],
    ['no list', Buffer.from('{}').toString('base64url')],
    ['null', Buffer.from('null').toString('base64url')],
    ['padding', `${cursor(NAME, TIME, 1)}=`],
    ['a space', ` ${cursor(NAME, TIME, 1)}`],
    ['white space inside', Buffer.from(`["${NAME}", "${TIME}", 1]`).toString('base64url')],
    ['no position', cursor(NAME)],
    ['half a position', cursor(NAME, TIME)],
    ['a longer position', cursor(NAME, TIME, 1, 1)],
    ['no name', cursor(TIME, 1)],
    ['a time that is none', cursor(NAME, 'yesterday', 1)],
    ['a year before the calendar', cursor(NAME, '0000-01-01T00:00:00.000Z', 1)],
    ['a year of six digits', cursor(NAME, '+012026-01-01T00:00:00.000Z', 1)],
    ['a number as the time', cursor(NAME, 1, 1)],
    ['an id of zero', cursor(NAME, TIME, 0)],
    ['an id that is text', cursor(NAME, TIME, '1')],
    ['an id that is no integer', cursor(NAME, TIME, 1.5)],
    ['an id past the integers', cursor(NAME, TIME, 1e300)],
    ['the cursor of REST', btoa('3')],
    ['the cursor of another list', cursor('others', TIME, 1)],
  ])('reject a cursor with %s', async (_, after) => {
    const { data, errors } = (await api.graphql(PAGE, { after })).body;

    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ path: ['posts'], extensions: { code: 'BAD_USER_INPUT' } });
    expect(errors[0].message).toContain('cursor');
  });

  it.each([
    ['title', ['posts by title ASC', '\ud800', 1]],
    ['title', ['posts by title ASC', 'a\0', 1]],
    ['title', ['posts by title ASC', 5, 1]],
    ['views', ['posts by views ASC', '5', 1]],
    ['views', ['posts by views ASC', 1e300, 1]],
    ['views', ['posts by views ASC', null, 1]],
  ])('by %s reject the position %j', async (field, parts) => {
    expect(await codeOf({ orderBy: { field, direction: 'ASC' }, after: cursor(...parts) })).toBe(
      'BAD_USER_INPUT',
    );
  });

  it('accept a position that no post has', async () => {
    const far = (await page({ after: cursor(NAME, '9999-12-31T23:59:59.999Z', Number.MAX_SAFE_INTEGER) }))
      .edges;
    expect(far).toHaveLength(20);
    expect((await page({ after: cursor(NAME, '0001-01-01T00:00:00.000Z', 1) })).edges).toEqual([]);
    const orderBy = { field: 'title', direction: 'DESC' };
    expect((await page({ orderBy, after: cursor('posts by title DESC', '', 1) })).edges).toEqual([]);
  });

  it.each([
    '{ posts(first: "2") { totalCount } }',
    '{ posts(status: archived) { totalCount } }',
    '{ posts(orderBy: { field: id }) { totalCount } }',
    '{ posts(orderBy: { direction: desc }) { totalCount } }',
    '{ posts(after: 5) { totalCount } }',
  ])('reject %s by the schema', async (query) => {
    const { data, errors } = (await api.graphql(query)).body;
    expect(data).toBeUndefined();
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  describe('run one statement', () => {
    const count = async (query: string) => (await statementsOf(() => api.graphql(query))).length;

    it.each([
      ['for a page', '{ posts { nodes { id etag } edges { cursor } pageInfo { hasNextPage } } }', 1],
      ['for the count', '{ posts { totalCount nodes { id } } }', 2],
      ['for all authors', '{ posts(first: 50) { nodes { author { name } } } }', 2],
      ['for all contents', '{ posts(first: 50) { nodes { content author { name } } } }', 3],
      ['for the posts of all authors', '{ posts { nodes { author { posts(limit: 2) { title } } } } }', 3],
      [
        'for single posts',
        '{ a: post(id: 1) { title } b: post(id: 2) { title } c: post(id: 999) { title } }',
        1,
      ],
      [
        'for their contents and authors',
        '{ a: post(id: 1) { content author { id } } b: post(id: 2) { content author { id } } }',
        3,
      ],
    ])('%s', async (_, query, statements) => {
      expect(await count(query)).toBe(statements);
    });
  });

  it('cost what their longest page may have, which is counted before anything is read', async () => {
    const costOf = async (query: string, variables?: object) =>
      (await api.graphql(query, variables, { 'graphql-cost': '1' })).body.extensions.cost.objects;

    expect(await costOf('{ posts(first: 5) { nodes { id author { id } } } }')).toBe(1 + 5 * 2);
    expect(await costOf('{ posts(first: 5) { edges { cursor node { id author { id } } } } }')).toBe(
      1 + 5 * 3,
    );
    expect(await costOf('{ posts { nodes { id } pageInfo { hasNextPage } totalCount } }')).toBe(1 + 20 + 500);
    expect(await costOf('query ($n: Int) { posts(first: $n) { nodes { id } } }', { n: 101 })).toBe(1 + 20);
    expect(await costOf('{ posts(first: 3) { nodes { author { posts(limit: 7) { id } } } } }')).toBe(
      1 + 3 * (2 + 7),
    );

    const expensive = '{ posts(first: 100) { nodes { author { posts { author { id } } } } } }';
    const statements = await statementsOf(async () => {
      const { errors } = (await api.graphql(expensive)).body;
      expect(errors[0]).toMatchObject({
        message: 'The operation has 20201 objects to respond with, and at most 20000 are allowed',
        extensions: { code: 'QUERY_TOO_COMPLEX' },
      });
    });
    expect(statements).toEqual([]);
  });
});
