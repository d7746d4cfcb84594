import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger, Module } from '@nestjs/common';
import { Int, Query, registerEnumType, Resolver } from '@nestjs/graphql';
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  printType,
} from 'graphql';
import { Public } from '../src/platform/access/index.js';
import { Database } from '../src/platform/database/database.js';
import { insertPosts } from '../src/posts/post-batch.js';
import { describeSchema } from '../src/platform/graphql/graphql.module.js';
import { startApi, type TestApi } from './support/api.js';
import { statementsOf, watchContents } from './support/statements.js';
import { ANY_STORE, STORES } from './support/stores.js';

enum Shade {
  LIGHT = 'light',
}
registerEnumType(Shade, { name: 'Shade' });

@Resolver()
@Public()
class FaultyResolver {
  @Query(() => String)
  broken(): string {
    throw new TypeError('secret');
  }

  @Query(() => String)
  wronglyNull(): string | null {
    return null;
  }

  @Query(() => Int)
  noInt(): string {
    return 'secret';
  }

  @Query(() => Shade)
  noShade(): string {
    return 'secret';
  }

  @Query(() => [Date])
  noDates(): string[] {
    return ['secret'];
  }

  @Query(() => String)
  noText(): object {
    return { secret: 'secret' };
  }

  @Query(() => [String])
  noList(): string {
    return 'secret';
  }
}

@Module({ providers: [FaultyResolver] })
class FaultyModule {}

describe('the schema', () => {
  it('equals the committed one', async () => {
    const api = await startApi(ANY_STORE);

    expect(describeSchema(api.app)).toBe(await readFile('schema.gql', 'utf8'));
    await api.stop();
  });

  it.each([
    ['Query', { user: '(id: ID!): User', users: '(page: Int = 1, limit: Int = 10): [User!]!' }],
    [
      'Mutation',
      {
        createUser: '(input: CreateUserInput!): User!',
        updateUser: '(id: ID!, input: UpdateUserInput!): User!',
      },
    ],
    [
      'User',
      {
        id: ': ID!',
        name: ': String!',
        email: ': String!',
        posts: '(page: Int = 1, limit: Int = 100): [Post!]!',
        createdAt: ': DateTime!',
      },
    ],
    [
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
    ['CreateUserInput', { name: ': String!', email: ': String!' }],
    ['UpdateUserInput', { name: ': String', email: ': String' }],
    ['PostStatus', { draft: '', published: '' }],
  ])('has the specified type %s', async (name, fields) => {
    const schema = buildSchema(await readFile('schema.gql', 'utf8'));
    const keyword = name.endsWith('Input') ? 'input' : name === 'PostStatus' ? 'enum' : 'type';
    const members = Object.entries(fields).map(([field, signature]) => `  ${field}${signature}`);
    const specified = buildSchema(
      `${keyword} ${name} {\n${members.join('\n')}\n}
       ${['Query', 'User', 'Post', 'CreateUserInput', 'UpdateUserInput', 'PostStatus']
         .filter((other) => other !== name)
         .map((other) => (other.endsWith('Input') ? `input ${other} { x: Int }` : `type ${other} { x: Int }`))
         .join('\n')}
       scalar DateTime`,
    );

    // Other modules may add fields.
    expect(signatures(printType(schema.getType(name)!))).toEqual(
      expect.arrayContaining(signatures(printType(specified.getType(name)!))),
    );
  });

  it('describes every type, field and value', async () => {
    const schema = buildSchema(await readFile('schema.gql', 'utf8'));
    const members = (type: GraphQLNamedType) =>
      isEnumType(type)
        ? type.getValues()
        : isObjectType(type) || isInputObjectType(type)
          ? Object.values(type.getFields())
          : [];
    const undescribed = Object.values(schema.getTypeMap())
      .filter(({ name }) => !name.startsWith('__'))
      .flatMap((type) => [
        { name: type.name, description: type.description },
        ...members(type).map(({ name, description }) => ({ name: `${type.name}.${name}`, description })),
      ])
      .filter(({ description }) => !description)
      .map(({ name }) => name);

    expect(undescribed).toEqual([]);
  });

  /** The fields without their descriptions, and with their arguments, both sorted by name. */
  function signatures(type: string): string[] {
    return type
      .replaceAll(/"""[^]*?"""/g, '')
      .replaceAll(/\(([^)]*)\)/g, (_, list: string) => {
        const parts = list.split(/[,\n]/).map((part) => part.trim());
        return `(${parts.filter(Boolean).toSorted().join(', ')})`;
      })
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .toSorted();
  }
});

describe.each(STORES)('GraphQL on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
    for (let n = 0; n < 12; n++) await api.users.create({ name: `User ${n}`, email: `${n}@example.com` });
  });
  afterAll(() => api.stop());

  const query = async (text: string, variables?: object) => (await api.graphql(text, variables)).body;

  describe('user', () => {
    it('is found by its id, as a string or as a number', async () => {
      const user = await api.users.get(2);
      const expected = { id: '2', name: user.name, email: user.email, createdAt: user.created_at };

      expect(await query('{ user(id: "2") { id name email createdAt } }')).toEqual({
        data: { user: expected },
      });
      expect(await query('{ user(id: 2) { id name email createdAt } }')).toEqual({
        data: { user: expected },
      });
    });

    it.each(['999999', '0', '-1', 'abc', '', '1.0', '9223372036854775808', '9'.repeat(500), '\0', '\ud800'])(
      'is null for the id %j',
      async (id) => {
        expect(await query('query ($id: ID!) { user(id: $id) { id } }', { id })).toEqual({
          data: { user: null },
        });
      },
    );
  });

  describe('users', () => {
    const ids = async (args: string) =>
      (await query(`{ users${args} { id } }`)).data.users.map(({ id }: { id: string }) => Number(id));

    it('are returned in pages of ten, ordered by id', async () => {
      expect(await ids('')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(await ids('(page: 2)')).toEqual([11, 12, 13]);
      expect(await ids('(page: 3, limit: 2)')).toEqual([5, 6]);
      expect(await ids('(page: 2147483647, limit: 100)')).toEqual([]);
    });

    it.each(['(page: 0)', '(page: -1)', '(page: null)', '(limit: 0)', '(limit: 101)', '(limit: null)'])(
      'replace invalid arguments: %s',
      async (args) => {
        expect(await ids(args)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      },
    );
  });

  describe('createUser', () => {
    const CREATE =
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { id name email createdAt } }';

    it('creates a user that REST returns too', async () => {
      const { data } = await query(CREATE, { input: { name: 'Ada', email: 'ada@example.com' } });

      expect(await api.users.get(data.createUser.id)).toMatchObject({
        name: 'Ada',
        email: 'ada@example.com',
        created_at: data.createUser.createdAt,
      });
    });

    it('accepts an empty e-mail', async () => {
      expect((await query(CREATE, { input: { name: 'Ada', email: '' } })).data.createUser.email).toBe('');
    });

    it.each([
      [{ name: '', email: '' }, ['name']],
      [{ name: 'a'.repeat(151), email: 'x' }, ['name', 'email']],
      [{ name: 'a\0', email: '' }, ['name']],
      [{ name: '\ud800', email: '\ud800@a.example' }, ['name', 'email']],
    ])('rejects %j by the rules of REST', async (input, fields) => {
      const { errors, data } = await query(CREATE, { input });

      expect(data).toBeNull();
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatchObject({ path: ['createUser'], extensions: { code: 'BAD_USER_INPUT' } });
      expect(errors[0].extensions.details.map(({ field }: { field: string }) => field)).toEqual(fields);
    });

    it.each([
      { name: 'Ada' },
      { name: 'Ada', email: null },
      { name: 5, email: '' },
      { name: 'Ada', email: '', id: 7 },
      [],
      null,
    ])('rejects %j by the schema', async (input) => {
      const { errors, data } = await query(CREATE, { input });

      expect(data).toBeUndefined();
      expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
    });
  });

  describe('updateUser', () => {
    const UPDATE =
      'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { id name email } }';

    it.each([
      [{ name: 'After' }, { name: 'After', email: 'before@example.com' }],
      [
        { name: null, email: '' },
        { name: 'Before', email: '' },
      ],
      [{}, { name: 'Before', email: 'before@example.com' }],
    ])('changes only the given fields: %j', async (input, expected) => {
      const before = await api.users.create({ name: 'Before', email: 'before@example.com' });

      const { data } = await query(UPDATE, { id: before.id, input });

      expect(data.updateUser).toEqual({ id: before.id, ...expected });
      expect(await api.users.get(before.id)).toEqual({
        ...before,
        ...expected,
        updated_at: expect.laterThan(before.updated_at),
      });
    });

    it.each(['999999', '0', 'abc'])('rejects the unknown id %s', async (id) => {
      const { errors, data } = await query(UPDATE, { id, input: { name: 'A' } });

      expect(data).toBeNull();
      expect(errors[0]).toMatchObject({ message: 'User not found', extensions: { code: 'NOT_FOUND' } });
    });

    it('rejects invalid fields, and keeps the user unchanged', async () => {
      const before = await api.users.create();
      const { errors } = await query(UPDATE, { id: before.id, input: { name: '', email: 'x' } });

      expect(errors[0].extensions.details).toHaveLength(2);
      expect(await api.users.get(before.id)).toEqual(before);
    });
  });

  describe('posts', () => {
    it('are fields of their author, newest first, and have an author field', async () => {
      const { id } = await api.users.create({ name: 'Author of three' });
      await api.posts.createBy(Number(id), ['a', 'b', 'c']);
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
      const { id } = await api.users.create();
      await api.posts.createBy(
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
        const { id } = await api.users.create();
        await api.posts.createBy(Number(id), ['first', 'second']);
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
    const author = await api.users.create({ name: 'Ada' });
    await api.posts.createBy(Number(author.id), ['One', 'Two', 'Three']);
    const posts = async (fields: string) =>
      (await query(`{ user(id: ${author.id}) { posts { ${fields} } } }`)).data.user.posts;

    expect(await statementsOf(() => posts('title'))).toHaveLength(2);
    expect(await statementsOf(() => posts('title content'))).toHaveLength(3);
    expect((await posts('title content'))[0]).toEqual({ title: 'Three', content: 'Some content' });
  });

  it('does not load more than 16 MiB of contents for one response', async () => {
    const author = await api.users.create({ name: 'Verbose' });
    const content = 'é'.repeat(500_000);
    for (let n = 0; n < 18; n++) {
      const post = { title: `Post ${n}`, content, authorId: Number(author.id), createdAt: new Date() };
      await insertPosts(api.app.get(Database), [post]);
    }
    const posts = (limit: number) => `posts(limit: ${limit}) { content }`;

    const { loaded, stop } = watchContents();
    const { data, errors } = await query(`{ user(id: ${author.id}) { ${posts(16)} } }`);
    expect(errors).toBeUndefined();
    expect(data.user.posts).toHaveLength(16);
    // One by one, so that other requests are served in between.
    expect(loaded.map((ids) => ids.length)).toEqual(Array(16).fill(1));
    const tooMany = await query(`{ user(id: ${author.id}) { ${posts(17)} } }`);
    expect(loaded).toHaveLength(16);
    expect(tooMany.errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
    expect(tooMany.errors[0].message).toContain('16777216');
    const aliases = ['a', 'b', 'c'].map((name) => `${name}: posts(limit: 7) { content }`).join(' ');
    const repeated = await query(`{ user(id: ${author.id}) { ${aliases} } }`);
    expect(repeated.errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
    for (const ids of loaded) expect(ids.length).toBeLessThanOrEqual(16);
    stop();
  });

  it('returns to each mutation the result of the previous one', async () => {
    const author = await api.users.create({ name: 'Zero' });
    await api.posts.createBy(Number(author.id), ['One post']);
    const update = (alias: string) =>
      `${alias}: updateUser(id: ${author.id}, input: { name: "${alias}" }) { posts { author { name } } }`;

    const { data } = await query(`mutation { ${update('one')} ${update('two')} }`);

    expect(data.one.posts[0].author.name).toBe('one');
    expect(data.two.posts[0].author.name).toBe('two');
  });

  describe('errors', () => {
    it('contain the request id, and no stack', async () => {
      const reply = await api.graphql('mutation { updateUser(id: 999999, input: {}) { id } }');
      const [error] = reply.body.errors;

      expect(error.extensions).toEqual({ code: 'NOT_FOUND', requestId: reply.headers['x-request-id'] });
      expect(Object.keys(error).toSorted()).toEqual(['extensions', 'locations', 'message', 'path']);
    });

    it('keep the data of the other fields', async () => {
      const { errors, data } = await query('mutation { a: updateUser(id: 2, input: {}) { id } }');

      expect(errors).toBeUndefined();
      expect(data.a).toEqual({ id: '2' });
    });

    it.each([
      ['{ users { id ', 'Syntax Error'],
      ['{ nope }', 'Cannot query field'],
      ['query ($id: ID!) { user(id: $id) { id } }', 'Variable "$id"'],
      ['query A { users { id } } query B { users { id } }', 'Must provide operation name'],
      ['{ users(limit: "x") { id } }', 'Int cannot represent'],
      ['', 'Syntax Error'],
    ])('of %j have a code of client errors', async (text, message) => {
      const reply = await api.graphql(text);

      expect(reply).toHaveStatus(200);
      expect(reply.body.data).toBeUndefined();
      expect(reply.body.errors[0].message).toContain(message);
      expect(reply.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    });

    it.each(['broken', 'wronglyNull', 'noInt', 'noShade', 'noDates', 'noText', 'noList'])(
      'inside the service are masked, and only the log has the cause: %s',
      async (field) => {
        const faulty = await startApi(store, {}, [FaultyModule]);
        const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
        const { body } = await faulty.graphql(`{ ${field} }`);
        await faulty.stop();

        expect(body.data).toBeNull();
        expect(body.errors[0]).toMatchObject({
          message: 'Internal error; report the request id to the operators of the service',
          extensions: { code: 'INTERNAL_SERVER_ERROR' },
        });
        expect(body.errors[0].path[0]).toBe(field);
        expect(JSON.stringify(body)).not.toMatch(/secret|null.*non-nullable/);
        expect(log.mock.calls).toEqual([
          [{ requestId: body.errors[0].extensions.requestId, err: expect.any(Error) }],
        ]);
        log.mockRestore();
      },
    );
  });
});
