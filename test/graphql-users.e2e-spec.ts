import { beforeAll, describe, expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';
import { missingMembers } from './support/schema-members.js';
import { usersOf } from './support/users.js';

it.each([
  ['type', 'Query', { user: '(id: ID!): User', users: '(page: Int = 1, limit: Int = 10): [User!]!' }],
  [
    'type',
    'Mutation',
    {
      createUser: '(input: CreateUserInput!): User!',
      updateUser: '(id: ID!, input: UpdateUserInput!): User!',
    },
  ],
  ['type', 'User', { id: ': ID!', name: ': String!', email: ': String!', createdAt: ': DateTime!' }],
  ['input', 'CreateUserInput', { name: ': String!', email: ': String!' }],
  ['input', 'UpdateUserInput', { name: ': String', email: ': String' }],
])('the schema of users has the specified %s %s', (keyword, name, fields) => {
  expect(missingMembers(keyword, name, fields)).toEqual([]);
});

onEach('users over GraphQL', {}, ({ api }) => {
  beforeAll(async () => {
    for (let n = 0; n < 12; n++) await usersOf(api).create({ name: `User ${n}`, email: `${n}@example.com` });
  });

  const query = async (text: string, variables?: object) => (await api.graphql(text, variables)).body;

  describe('user', () => {
    it('is found by its id, as a string or as a number', async () => {
      const user = await usersOf(api).get(2);
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

      expect(await usersOf(api).get(data.createUser.id)).toMatchObject({
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
      const before = await usersOf(api).create({ name: 'Before', email: 'before@example.com' });

      const { data } = await query(UPDATE, { id: before.id, input });

      expect(data.updateUser).toEqual({ id: before.id, ...expected });
      expect(await usersOf(api).get(before.id)).toEqual({
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
      const before = await usersOf(api).create();
      const { errors } = await query(UPDATE, { id: before.id, input: { name: '', email: 'x' } });

      expect(errors[0].extensions.details).toHaveLength(2);
      expect(await usersOf(api).get(before.id)).toEqual(before);
    });
  });
});
