import { beforeAll, describe, expect, it } from '@jest/globals';
import { ConnectionReader, cursorOf, testConnection } from './support/connection.js';
import { onEach } from './support/on-each.js';
import { postsOf } from './support/posts.js';
import { until } from './support/until.js';
import { usersOf } from './support/users.js';

/** Titles in no order, some of them equal; code points, UTF-16 units and letter cases would sort them differently. */
const TITLES = ['b', 'B', 'a', '', '\uFFFD', '😀', 'a', 'é', 'b', 'Z', 'a"\\', 'e\u0301'].map(
  (title) => `${title} post`,
);

const NAME = 'posts by created_at DESC';
const TIME = '2026-01-01T00:00:00.000Z';

const ORDERS = ['createdAt', 'title', 'views'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => [field, direction] as const),
);

onEach('connections of posts', {}, ({ api }) => {
  beforeAll(async () => {
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

  const posts = {
    list: 'posts',
    one: 'post',
    object: 'author',
    children: 'posts',
    text: 'content',
    variables: '$status: PostStatus, $orderBy: PostOrder',
    cursor: [NAME, TIME, 1],
    create: () => postsOf(api).create(),
  } as const;
  const reader = new ConnectionReader(() => api, posts);
  const page = reader.page.bind(reader);

  const sortBy = (field: string) => (field === 'createdAt' ? 'created_at' : field);

  describe.each(ORDERS)('by %s %s', (field, direction) => {
    const orderBy = { field, direction };
    const rest = `sort_by=${sortBy(field)}&sort_dir=${direction}`;

    it.each([1, 3, 13, 14, 100])('have every post once, in pages of %i', async (first) => {
      expect(await reader.all({ orderBy, first })).toEqual(await reader.overRest(rest));
    });

    it('are filtered by status and text', async () => {
      expect(await reader.all({ orderBy, first: 2, status: 'draft' })).toEqual(
        await reader.overRest(`${rest}&status=draft`),
      );
      expect(await reader.all({ orderBy, first: 2, q: 'POST' })).toEqual(
        await reader.overRest(`${rest}&q=post`),
      );
      expect(await reader.all({ orderBy, first: 1, q: 'É' })).toEqual(
        await reader.overRest(`${rest}&q=%C3%A9`),
      );
      expect(await reader.all({ orderBy, first: 1, q: 'b post', status: 'draft' })).toEqual(
        await reader.overRest(`${rest}&q=b+post&status=draft`),
      );
    });

    it('reject the cursor of another order', async () => {
      const { endCursor } = (await page({ orderBy, first: 2 })).pageInfo;

      for (const [otherField, otherDirection] of ORDERS) {
        const isSame = otherField === field && otherDirection === direction;
        const other = { field: otherField, direction: otherDirection };
        expect(await reader.codeOf({ orderBy: other, after: endCursor })).toBe(
          isSame ? undefined : 'BAD_USER_INPUT',
        );
      }
    });

    it('continue after a post that was deleted, and are not shifted by new posts', async () => {
      const before = await reader.overRest(rest);
      const created: number[] = [];
      const deleted: number[] = [];
      const seen = await reader.all({ orderBy, first: 3 }, async (number) => {
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

  testConnection(() => api, posts);

  it('count the posts of a status, and of no text', async () => {
    expect((await page({ q: 'NUL \0' })).totalCount).toBe(0);
    const { totalCount } = await page({ status: 'published' });
    expect(totalCount).toBe((await reader.overRest('status=published')).length);
  });

  it('treat an order without a field or a direction as the default', async () => {
    expect(await page({ orderBy: null })).toEqual(await page());
    expect(await page({ orderBy: { field: null, direction: null } })).toEqual(await page());
    expect(await page({ orderBy: { direction: 'ASC' } })).toEqual(
      await page({ orderBy: { field: 'createdAt', direction: 'ASC' } }),
    );
  });

  it.each([
    ['half a position', cursorOf(NAME, TIME)],
    ['a time that is none', cursorOf(NAME, 'yesterday', 1)],
    ['a year before the calendar', cursorOf(NAME, '0000-01-01T00:00:00.000Z', 1)],
    ['a year of six digits', cursorOf(NAME, '+012026-01-01T00:00:00.000Z', 1)],
    ['a number as the time', cursorOf(NAME, 1, 1)],
  ])('reject a cursor with %s', async (_, after) => {
    expect(await reader.codeOf({ after })).toBe('BAD_USER_INPUT');
  });

  it.each([
    ['title', ['posts by title ASC', '\ud800', 1]],
    ['title', ['posts by title ASC', 'a\0', 1]],
    ['title', ['posts by title ASC', 5, 1]],
    ['views', ['posts by views ASC', '5', 1]],
    ['views', ['posts by views ASC', 1e300, 1]],
    ['views', ['posts by views ASC', null, 1]],
  ])('by %s reject the position %j', async (field, parts) => {
    expect(await reader.codeOf({ orderBy: { field, direction: 'ASC' }, after: cursorOf(...parts) })).toBe(
      'BAD_USER_INPUT',
    );
  });

  it('accept a position that no post has', async () => {
    const far = (await page({ after: cursorOf(NAME, '9999-12-31T23:59:59.999Z', Number.MAX_SAFE_INTEGER) }))
      .edges;
    expect(far).toHaveLength(20);
    expect((await page({ after: cursorOf(NAME, '0001-01-01T00:00:00.000Z', 1) })).edges).toEqual([]);
    const orderBy = { field: 'title', direction: 'DESC' };
    expect((await page({ orderBy, after: cursorOf('posts by title DESC', '', 1) })).edges).toEqual([]);
  });

  it.each(['{ field: id }', '{ direction: desc }'])('reject the order %s by the schema', async (order) => {
    const { data, errors } = (await api.graphql(`{ posts(orderBy: ${order}) { totalCount } }`)).body;
    expect(data).toBeUndefined();
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});
