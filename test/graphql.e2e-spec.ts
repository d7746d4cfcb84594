import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger, Module } from '@nestjs/common';
import { Int, Query, registerEnumType, Resolver } from '@nestjs/graphql';
import { buildSchema, type GraphQLNamedType, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { Public } from '../src/platform/access/index.js';
import { startApi } from './support/api.js';
import { environmentOfProcess } from './support/environment.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { statementsOf, watchTexts } from './support/statements.js';

const run = promisify(execFile);

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
    // In a process of its own, because this one has the types of tests, too.
    const { stdout } = await run(process.execPath, ['test/support/print-schema.mjs'], {
      env: environmentOfProcess(),
    });

    expect(stdout).toBe(await readFile('schema.gql', 'utf8'));
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
});

onEach('GraphQL', { modules: [FixtureModule] }, ({ api, store }) => {
  beforeAll(async () => {
    for (let n = 0; n < 20; n++) await api.dummies.create({ text: `Text ${n}`, counter: n % 4 });
  });

  const query = async (text: string, variables?: object) => (await api.graphql(text, variables)).body;

  it.each(['999999', '0', '-1', 'abc', '', '1.0', '9223372036854775808', '9'.repeat(500), '\0', '\ud800'])(
    'finds nothing with the id %j',
    async (id) => {
      expect(await query('query ($id: ID!) { dummy(id: $id) { id } }', { id })).toEqual({
        data: { dummy: null },
      });
    },
  );

  it.each([
    [{ text: '', counter: 2 ** 20 }, ['text']],
    [{ text: 'a\0' }, ['text']],
    [{ text: '\ud800' }, ['text']],
    [{ text: 'a'.repeat(1_000_001) }, ['text']],
  ])('rejects an input by the rules of REST', async (input, fields) => {
    const mutation = 'mutation ($input: CreateDummyInput!) { createDummy(input: $input) { id } }';
    const { errors, data } = await query(mutation, { input });

    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ path: ['createDummy'], extensions: { code: 'BAD_USER_INPUT' } });
    expect(errors[0].extensions.details.map(({ field }: { field: string }) => field)).toEqual(fields);
  });

  it.each([{}, { text: null }, { text: 5 }, { text: 'a', counter: 1.5 }, { text: 'a', id: 7 }, [], null])(
    'rejects %j by the schema',
    async (input) => {
      const mutation = 'mutation ($input: CreateDummyInput!) { createDummy(input: $input) { id } }';
      const { errors, data } = await query(mutation, { input });

      expect(data).toBeUndefined();
      expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
    },
  );

  it('loads the children of all parents in one statement for each level', async () => {
    const document = '{ dummies { nodes { counter peers(limit: 2) { counter first { id } } } } }';

    expect(await statementsOf(() => query(document))).toHaveLength(3);
    const { nodes } = (await query(document)).data.dummies;
    expect(nodes).toHaveLength(20);
    for (const { counter, peers } of nodes) {
      const first = { id: String(counter + 1) };
      expect(peers).toEqual([
        { counter, first },
        { counter, first },
      ]);
    }
  });

  it('loads texts in one statement, and only if they are requested', async () => {
    const peers = async (fields: string) =>
      (await query(`{ dummy(id: 1) { peers(limit: 3) { ${fields} } } }`)).data.dummy.peers;

    expect(await statementsOf(() => peers('id'))).toHaveLength(2);
    expect(await statementsOf(() => peers('id text'))).toHaveLength(3);
    expect((await peers('id text'))[0]).toEqual({ id: '17', text: 'Text 16' });
  });

  it('does not load more than 16 MiB of texts for one response', async () => {
    const text = 'é'.repeat(500_000);
    for (let n = 0; n < 18; n++) await api.dummies.create({ text, counter: 77 });
    const { id } = await api.dummies.create({ counter: 77 });
    await api.delete(`/v1/dummies/${id}`);
    const peers = (limit: number) => `peers(limit: ${limit}) { text }`;
    const last = id - 1;

    const { loaded, stop } = watchTexts();
    const { data, errors } = await query(`{ dummy(id: ${last}) { ${peers(16)} } }`);
    expect(errors).toBeUndefined();
    expect(data.dummy.peers).toHaveLength(16);
    // One by one, so that other requests are served in between.
    expect(loaded.map((ids) => ids.length)).toEqual(Array(16).fill(1));
    const tooMany = await query(`{ dummy(id: ${last}) { ${peers(17)} } }`);
    expect(loaded).toHaveLength(16);
    expect(tooMany.errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
    expect(tooMany.errors[0].message).toContain('16777216');
    const aliases = ['a', 'b', 'c'].map((name) => `${name}: ${peers(7)}`).join(' ');
    const repeated = await query(`{ dummy(id: ${last}) { ${aliases} } }`);
    expect(repeated.errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
    for (const ids of loaded) expect(ids.length).toBeLessThanOrEqual(16);
    stop();
  });

  it('returns to each mutation the result of the previous one', async () => {
    const { id } = await api.dummies.create({ text: 'Zero', counter: 78 });
    const update = (alias: string) =>
      `${alias}: updateDummy(id: ${id}, input: { text: "${alias}" }) { peers { first { text } } }`;

    const { data } = await query(`mutation { ${update('one')} ${update('two')} }`);

    expect(data.one.peers[0].first.text).toBe('one');
    expect(data.two.peers[0].first.text).toBe('two');
  });

  describe('errors', () => {
    it('contain the request id, and no stack', async () => {
      const reply = await api.graphql('mutation { updateDummy(id: 999999, input: {}) { id } }');
      const [error] = reply.body.errors;

      expect(error.extensions).toEqual({ code: 'NOT_FOUND', requestId: reply.headers['x-request-id'] });
      expect(Object.keys(error).toSorted()).toEqual(['extensions', 'locations', 'message', 'path']);
    });

    it.each([
      ['{ dummies { nodes { id ', 'Syntax Error'],
      ['{ nope }', 'Cannot query field'],
      ['query ($id: ID!) { dummy(id: $id) { id } }', 'Variable "$id"'],
      [
        'query A { dummies { totalCount } } query B { dummies { totalCount } }',
        'Must provide operation name',
      ],
      ['{ dummies(first: "x") { totalCount } }', 'Int cannot represent'],
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
