import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { GraphqlOptions } from '../src/platform/graphql/graphql.options.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';

const many = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');

/** A query for a dummy of a dummy and so on, nested `levels` deep. */
const deep = (levels: number) =>
  `{ dummy(id: 1) { ${'peers(limit: 1) { first { '.repeat((levels - 2) / 2)} id ${'} } '.repeat((levels - 2) / 2)} } }`;

const nested = (count: number) =>
  many(count, (n) => `fragment F${n} on Dummy{...F${n + 1} ...F${n + 1}}`).slice(0, 60_000);

/** A fragment with thousands of fields, spread thousands of times. */
const spreadOften = () =>
  `{ dummy(id: 1) { ${'...F '.repeat(5000)} } } fragment F on Dummy { ${many(5000, (n) => `n${n}`)} }`;

describe('the limits of GraphQL', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const run = async (query: string, variables?: object) => (await api.graphql(query, variables)).body;
  const tooComplex = (message: unknown) => ({
    errors: [
      {
        message,
        extensions: { code: 'QUERY_TOO_COMPLEX', requestId: expect.any(String) },
      },
    ],
  });

  it.each([
    ['levels', deep(10), deep(12), '12 levels of fields, and at most 10'],
    [
      'levels through fragments',
      `{ ...F } fragment F on Query ${deep(10)}`,
      `{ ...F } fragment F on Query { ...G } fragment G on Query ${deep(12)}`,
      '12 levels of fields, and at most 10',
    ],
    [
      'aliases',
      `{ ${many(30, (n) => `a${n}: dummy(id: 1) { id }`)} }`,
      `{ ${many(31, (n) => `a${n}: dummy(id: 1) { id }`)} }`,
      '31 aliases, and at most 30',
    ],
    [
      'aliases through fragments',
      `{ dummy(id: 1) { ...F } } fragment F on Dummy { a: id b: id }`,
      `{ ${many(16, (n) => `...F${n}`)} } ${many(16, (n) => `fragment F${n} on Query { a${n}: dummy(id: 1) { b: id } }`)}`,
      '32 aliases, and at most 30',
    ],
    [
      'directives',
      `{ dummy(id: 1) { id ${'@include(if: true) '.repeat(1)} } }`,
      `{ dummy(id: 1) { ${many(31, () => '... on Dummy @include(if: true) { id }')} } }`,
      '31 directives, and at most 30',
    ],
    [
      'repeated fields',
      `{ dummy(id: 1) { ${'id '.repeat(20)} } }`,
      `{ dummy(id: 1) { ${'id '.repeat(21)} } }`,
      '21 repetitions of one field, and at most 20',
    ],
    [
      'repeated fields through fragments',
      `{ dummy(id: 1) { ...F ...F } } fragment F on Dummy { ${'id '.repeat(10)} }`,
      `{ dummy(id: 1) { ...F ...F ...F } } fragment F on Dummy { ${'id '.repeat(10)} }`,
      '30 repetitions of one field, and at most 20',
    ],
    [
      'tokens',
      `{ dummy(id: 1) { id } } ${'#'.repeat(3000)}`,
      `{ dummy(id: 1) { ${'__typename '.repeat(2000)} } }`,
      '2010 tokens, and at most 2000',
    ],
    [
      'cost',
      '{ dummies(first: 100) { nodes { peers { id } } } }',
      '{ dummies(first: 100) { nodes { peers { first { id } } } } }',
      '20101 objects to respond with, and at most 20000',
    ],
  ])('accepts %s up to the limit, and names the number beyond it', async (_, fine, rejected, message) => {
    expect((await run(fine)).errors).toBeUndefined();
    expect(await run(rejected)).toEqual(tooComplex(`The operation has ${message} are allowed`));
  });

  it('counts the objects that variables request', async () => {
    const query =
      'query ($limit: Int = 5) { dummy(id: 1) { peers(limit: $limit) { peers(limit: 100) { first { peers { id } } } } } }';

    const rejected = (objects: number) =>
      tooComplex(`The operation has ${objects} objects to respond with, and at most 20000 are allowed`);
    expect((await run(query, { limit: 1 })).errors).toBeUndefined();
    expect(await run(query, { limit: 2 })).toEqual(rejected(20_403));
    expect(await run(query)).toEqual(rejected(51_006));
    // Invalid values are replaced before counting, as they are before execution.
    expect(await run(query, { limit: 101 })).toEqual(rejected(1_020_101));
    expect(await run(query, { limit: null })).toEqual(rejected(1_020_101));
  });

  it.each([
    ['a search', `dummies(first: 1, q: "a") { nodes { id } }`, 2002],
    ['a search that is empty', `dummies(first: 1, q: "") { nodes { id } }`, 2],
    ['a search that is null', `dummies(first: 1, q: null) { nodes { id } }`, 2],
    ['a search by a variable', `dummies(first: 1, q: $q) { nodes { id } }`, 2002],
    ['a total, however long the page is', `dummies(first: 100) { totalCount nodes { id } }`, 601],
    ['each total of a page', `dummies(first: 1) { a: totalCount b: totalCount }`, 1001],
    [
      'a total in a fragment',
      `dummies(first: 50) { ...Total ... on DummyConnection { b: totalCount } }`,
      1001,
    ],
    ['a search with its total', `dummies(first: 1, q: "a") { totalCount }`, 2501],
  ])('counts %s', async (_, selection, objects) => {
    const fragment = selection.includes('...Total') ? 'fragment Total on DummyConnection { totalCount }' : '';
    const parameter = selection.includes('$q') ? '($q: String)' : '';
    const sent = `query ${parameter} { ${selection} } ${fragment}`;
    const reply = await api.graphql(sent, { q: 'a' }, { 'graphql-cost': '1' });

    expect(reply.body.extensions).toEqual({ cost: { objects, limit: 20_000 } });
  });

  it('lets one operation start a few searches at most', async () => {
    const searches = (count: number) =>
      `{ ${many(count, (n) => `a${n}: dummies(first: 1, q: "a") { totalCount }`)} }`;

    expect((await run(searches(7))).errors).toBeUndefined();
    expect(await run(searches(8))).toEqual(
      tooComplex('The operation has 20008 objects to respond with, and at most 20000 are allowed'),
    );
  });

  it('reports the cost on request', async () => {
    const query = '{ dummies(first: 3) { nodes { id peers(limit: 5) { first { id } } } } }';

    expect((await api.graphql(query)).body).not.toHaveProperty('extensions');
    expect((await api.graphql(query, {}, { 'graphql-cost': '1' })).body.extensions).toEqual({
      cost: { objects: 1 + 3 + 3 * 5 + 3 * 5, limit: 20_000 },
    });
  });

  it('rejects exponential operations without computing them', async () => {
    const doubling = many(60, (n) => `fragment F${n} on Dummy { ...F${n + 1} ...F${n + 1} }`);
    // Its shape passes the limits; computing its cost for each path through it would take hours.
    const ways = many(8, (n) => {
      const field = n % 2 === 0 ? 'peers' : 'first';
      return `fragment W${n} on Dummy { ${`${field} { ...W${n + 1} } `.repeat(20)} }`;
    });
    const circle = '{ dummy(id: 1) { ...A } } fragment A on Dummy { peers { first { ...A } } }';

    expect(await run(`{ dummy(id: 1) { ...F0 } } ${doubling} fragment F60 on Dummy { id }`)).toEqual(
      tooComplex(expect.stringContaining('repetitions')),
    );
    expect(await run(`{ dummy(id: 1) { ...W0 } } ${ways} fragment W8 on Dummy { id }`)).toEqual(
      tooComplex(expect.stringContaining('objects')),
    );
    expect((await run(circle)).errors[0].message).toContain('Cannot spread fragment "A" within itself');
    expect((await run('{'.repeat(60_000))).errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
  });

  it.each([
    ['nested fragments', `{ dummy(id: 1) { ...F0 } } ${nested(2800)} fragment F2800 on Dummy { id }`],
    ['aliases', `{ ${many(9000, (n) => `a${n}:__typename`)} }`.slice(0, 65_536)],
    ['directives', `{ dummy(id: 1) { id ${'@a '.repeat(20_000)} } }`],
    ['repeated spreads of one fragment', spreadOften()],
    ['nested inline fragments', `{ ${'...{'.repeat(8000)} dummies { totalCount } ${'}'.repeat(8000)} }`],
    ['nested selections', `${'{dummies'.repeat(5000)} { id } ${'}'.repeat(5000)}`],
  ])('refuses thousands of %s, with no limit on tokens', async (_, query) => {
    const open = await startApi(ANY_STORE, { GRAPHQL_MAX_TOKENS: '100000' }, [FixtureModule]);
    const { body } = await open.graphql(query);
    await open.stop();

    expect(body.data).toBeUndefined();
    expect(body.errors[0].extensions.code).toMatch(/QUERY_TOO_COMPLEX|BAD_USER_INPUT/);
  });

  it.each([
    ['a list', `{ dummies(first: ${'['.repeat(1980)}`],
    ['a closed list', `{ dummies(first: ${'['.repeat(980)}${']'.repeat(980)}) { totalCount } }`],
    ['an object', `{ dummies(first: ${'{a:'.repeat(660)}`],
    ['selections', `${'{dummies'.repeat(660)} { id } ${'}'.repeat(660)}`],
    ['inline fragments', `{ ${'...{'.repeat(660)} dummies { totalCount } ${'}'.repeat(660)} }`],
  ])('rejects %s of hundreds of levels as input', async (_, query) => {
    const { errors } = (await api.graphql(query)).body;
    expect(errors[0].extensions.code).toMatch(/QUERY_TOO_COMPLEX|BAD_USER_INPUT/);
    expect(errors[0].message).not.toContain('stack');
  });

  it('reports a document that exceeds the stack of the parser as too complex', async () => {
    const open = await startApi(ANY_STORE, { GRAPHQL_MAX_TOKENS: '100000' }, [FixtureModule]);
    const query = `{ dummies(first: ${'['.repeat(60_000)}`;
    const expected = tooComplex(expect.stringMatching(/too many levels .* at most 500 are allowed$/));
    expect((await open.graphql(query)).body).toEqual(expected);
    await open.stop();
  });

  it('keeps cached documents within 32 MiB, whatever their padding', async () => {
    const other = await startApi(ANY_STORE);
    const padding = (n: number) => `{__typename}#${n}`.padEnd(64 * 1024, 'x');
    for (let n = 0; n < 800; n++) expect((await other.graphql(padding(n))).body.data).toBeDefined();
    const { documents } = other.app.get(GraphqlOptions, { strict: false });

    const cached = documents.keys().length;
    // Each takes at least 64 KiB.
    expect(cached).toBeLessThanOrEqual(512);
    expect(cached).toBeGreaterThan(200);
    await other.stop();
  });

  it('allows introspection', async () => {
    expect((await run(getIntrospectionQuery())).data).toHaveProperty('__schema.queryType.name', 'Query');
  });

  it('are configurable', async () => {
    const strict = await startApi(ANY_STORE, { GRAPHQL_MAX_DEPTH: '1', GRAPHQL_MAX_COST: '3' }, [
      FixtureModule,
    ]);

    expect((await strict.graphql('{ dummies { totalCount } }')).body.errors[0].message).toContain(
      'at most 1',
    );
    await strict.stop();
  });

  describe('introspection and suggestions', () => {
    const introspection = '{ __schema { queryType { name } } }';
    const typo = '{ dummyz { totalCount } }';

    it.each([
      ['are on by default', {}, true],
      ['are off if set to off', { GRAPHQL_INTROSPECTION: 'off', GRAPHQL_SUGGESTIONS: 'off' }, false],
      [
        'are off in production',
        { NODE_ENV: 'production', WRITE_ACCESS: 'open', JWT_SECRET: 'as'.repeat(16) },
        false,
      ],
      [
        'are on in production if set to on',
        {
          NODE_ENV: 'production',
          WRITE_ACCESS: 'open',
          JWT_SECRET: 'as'.repeat(16),
          GRAPHQL_INTROSPECTION: 'on',
          GRAPHQL_SUGGESTIONS: 'on',
        },
        true,
      ],
    ])('%s', async (_, settings, open) => {
      const other = await startApi(ANY_STORE, settings, [FixtureModule]);
      const [schema, suggestion] = [await other.graphql(introspection), await other.graphql(typo)];
      const badInput = await other.graphql('mutation { createDummy(input: { tex: "x" }) { id } }');
      await other.stop();

      expect(schema.body.data !== undefined).toBe(open);
      expect(schema.body.errors?.[0].message).toBe(
        open
          ? undefined
          : 'Introspection is off, but the document contains __schema; the setting GRAPHQL_INTROSPECTION=on turns it on',
      );
      expect(JSON.stringify(suggestion.body).includes('Did you mean')).toBe(open);
      expect(JSON.stringify(badInput.body).includes('Did you mean')).toBe(open);
    });

    it('are removed from the end of a message only, however long a value of the client in it is', async () => {
      const other = await startApi(ANY_STORE, { GRAPHQL_SUGGESTIONS: 'off' }, [FixtureModule]);
      const status = `${' Did you mean '.repeat(70_000)}ope`;
      const query = 'query ($status: DummyStatus) { dummies(status: $status) { totalCount } }';
      const { body } = await other.graphql(query, { status });
      await other.stop();

      expect(body.errors[0].message).toContain(status);
      expect(body.errors[0].message).not.toContain('"open"');
    });
  });
});
