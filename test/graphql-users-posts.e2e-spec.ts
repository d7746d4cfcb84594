import { beforeAll, describe, expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';
import { postsOf } from './support/posts.js';
import { missingMembers } from './support/schema-members.js';
import { statementsOf } from './support/statements.js';
import { usersOf } from './support/users.js';

it.each([
  ['type', 'User', { posts: '(page: Int = 1, limit: Int = 100): [Post!]!' }],
  [
    'type',
    'Post',
    {
      id: ': ID!',
      title: ': String!',
      content: ': String!',
      status: ': PostStatus!',
      authorId: ': ID!',
      author: ': User',
      createdAt: ': DateTime!',
      updatedAt: ': DateTime!',
    },
  ],
  ['enum', 'PostStatus', { draft: '', published: '' }],
])('the schema of posts has the specified %s %s', (keyword, name, fields) => {
  expect(missingMembers(keyword, name, fields)).toEqual([]);
});

onEach('posts of users over GraphQL', {}, ({ api }) => {
  beforeAll(async () => {
    for (let n = 0; n < 32; n++) await usersOf(api).create({ name: `User ${n}`, email: `${n}@example.com` });
  });

  const query = async (text: string, variables?: object) => (await api.graphql(text, variables)).body;

  describe('posts', () => {
    it('are fields of their author, newest first, and have an author field', async () => {
      const { id } = await usersOf(api).create({ name: 'Author of three' });
      await postsOf(api).createBy(Number(id), ['a', 'b', 'c']);
      const [newest] = (await api.get(`/v1/users/${id}/posts`)).body.data;

      const { data } = await query(
        `query ($id: ID!) { user(id: $id) {
           posts { id title content status authorId createdAt updatedAt author { id name } }
           second: posts(page: 2, limit: 1) { title }
         } }`,
        { id },
      );

      expect(data.user.posts.map(({ title }: { title: string }) => title)).toEqual(['c', 'b', 'a']);
      expect(data.user.second).toEqual([{ title: 'b' }]);
      expect(data.user.posts[0]).toEqual({
        id: String(newest.id),
        title: 'c',
        content: 'Some content',
        status: 'draft',
        authorId: id,
        createdAt: newest.created_at,
        updatedAt: newest.updated_at,
        author: { id, name: 'Author of three' },
      });
    });

    it('are limited to 100 for each user, and an invalid limit is replaced', async () => {
      const { id } = await usersOf(api).create();
      await postsOf(api).createBy(
        Number(id),
        Array.from({ length: 101 }, (_, n) => String(n)),
      );
      const titles = async (args: string) =>
        (await query(`{ user(id: ${id}) { posts${args} { title } } }`)).data.user.posts.map(
          ({ title }: { title: string }) => Number(title),
        );

      expect(await titles('')).toEqual(Array.from({ length: 100 }, (_, n) => 100 - n));
      for (const args of ['(limit: 0)', '(limit: 101)', '(limit: null, page: 0)']) {
        expect(await titles(args)).toHaveLength(100);
      }
      expect(await titles('(page: 2)')).toEqual([0]);
    });

    it('of 100 users need two statements', async () => {
      for (let n = 0; n < 100; n++) {
        const { id } = await usersOf(api).create();
        await postsOf(api).createBy(Number(id), ['first', 'second']);
      }
      const document = '{ users(limit: 100, page: 2) { id posts { title authorId } } }';

      expect(await statementsOf(() => query(document))).toHaveLength(2);
      const { data } = await query(document);
      const full = data.users.filter(({ posts }: { posts: unknown[] }) => posts.length === 2);
      expect(full.length).toBeGreaterThan(20);
      for (const { id, posts } of full) {
        expect(posts).toEqual([
          { title: 'second', authorId: id },
          { title: 'first', authorId: id },
        ]);
      }
    });

    it('and their authors need three', async () => {
      const statements = await statementsOf(() =>
        query('{ users(limit: 50) { posts(limit: 5) { author { id } } } }'),
      );

      expect(statements).toHaveLength(3);
    });
  });

  it('loads the contents of posts in one statement, and only if they are requested', async () => {
    const author = await usersOf(api).create({ name: 'Ada' });
    await postsOf(api).createBy(Number(author.id), ['One', 'Two', 'Three']);
    const posts = async (fields: string) =>
      (await query(`{ user(id: ${author.id}) { posts { ${fields} } } }`)).data.user.posts;

    expect(await statementsOf(() => posts('title'))).toHaveLength(2);
    expect(await statementsOf(() => posts('title content'))).toHaveLength(3);
    expect((await posts('title content'))[0]).toEqual({ title: 'Three', content: 'Some content' });
  });

  it('does not load more than 16 MiB of contents for one response', async () => {
    const author = await usersOf(api).create({ name: 'Verbose' });
    const content = 'é'.repeat(500_000);
    // One by one: a statement with all of them takes too long on a busy machine.
    for (let n = 0; n < 18; n++) await postsOf(api).createBy(Number(author.id), ['A post'], content);
    const posts = (limit: number) => `posts(limit: ${limit}) { content }`;

    const { data, errors } = await query(`{ user(id: ${author.id}) { ${posts(16)} } }`);
    expect(errors).toBeUndefined();
    expect(data.user.posts).toHaveLength(16);
    const tooMany = await query(`{ user(id: ${author.id}) { ${posts(17)} } }`);
    expect(tooMany.errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
    expect(tooMany.errors[0].message).toContain('16777216');
    const aliases = ['a', 'b', 'c'].map((name) => `${name}: posts(limit: 7) { content }`).join(' ');
    const repeated = await query(`{ user(id: ${author.id}) { ${aliases} } }`);
    expect(repeated.errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
  });

  it('returns to each mutation the result of the previous one', async () => {
    const author = await usersOf(api).create({ name: 'Zero' });
    await postsOf(api).createBy(Number(author.id), ['One post']);
    const update = (alias: string) =>
      `${alias}: updateUser(id: ${author.id}, input: { name: "${alias}" }) { posts { author { name } } }`;

    const { data } = await query(`mutation { ${update('one')} ${update('two')} }`);

    expect(data.one.posts[0].author.name).toBe('one');
    expect(data.two.posts[0].author.name).toBe('two');
  });
});
