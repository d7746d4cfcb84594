import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ClassSerializerInterceptor, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { statementsOf } from './support/statements.js';
import { STORES } from './support/stores.js';

/** As Nest's documentation on serialization shows it. */
@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }] })
class SerializingModule {}

const PAGE = `query ($first: Int, $after: String, $status: SampleStatus, $q: String) {
  samples(first: $first, after: $after, status: $status, q: $q) {
    edges { cursor node { id text } }
    nodes { id }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
  }
}`;

describe.each(STORES)('connections on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [FixtureModule]);
    for (let n = 0; n < 14; n++)
      await api.samples.create({ text: `Text ${n}`, status: n % 3 ? 'open' : 'done', counter: n % 2 });
  });
  afterAll(() => api.stop());

  it('pass a global ClassSerializerInterceptor, which reads all properties', async () => {
    const serializing = await startApi(store, {}, [FixtureModule, SerializingModule]);
    await serializing.samples.create({ text: 'A' });
    await serializing.samples.create({ text: 'B' });

    const { body } = await serializing.graphql(
      '{ samples(first: 1) { totalCount nodes { text } edges { cursor node { text } } pageInfo { hasNextPage endCursor } } }',
    );
    const [{ cursor }] = body.data.samples.edges;
    expect(body).toEqual({
      data: {
        samples: {
          totalCount: 2,
          nodes: [{ text: 'B' }],
          edges: [{ cursor, node: { text: 'B' } }],
          pageInfo: { hasNextPage: true, endCursor: cursor },
        },
      },
    });
    await serializing.stop();
  });

  const page = async (variables: object = {}): Promise<any> => {
    const { data, errors } = (await api.graphql(PAGE, variables)).body;
    expect(errors).toBeUndefined();
    return data.samples;
  };

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
  async function idsOverRest(query = ''): Promise<number[]> {
    return (await api.get(`/v1/samples?limit=100&${query}`)).body.data.map(({ id }: { id: number }) => id);
  }

  it.each([1, 3, 13, 14, 100])('have every row once, in pages of %i', async (first) => {
    expect(await readAll({ first })).toEqual(await idsOverRest());
  });

  it('are filtered', async () => {
    expect(await readAll({ first: 2, status: 'done' })).toEqual(await idsOverRest('status=done'));
    expect(await readAll({ first: 2, q: 'xt 1' })).toEqual(await idsOverRest('q=xt+1'));
    expect((await page({ status: 'done' })).totalCount).toBe(5);
    expect((await page({ q: 'no sample has this' })).totalCount).toBe(0);
  });

  it('continue after a row that was deleted, and are not shifted by new rows', async () => {
    const before = await idsOverRest();
    const created: number[] = [];
    const seen = await readAll({ first: 3 }, async (number) => {
      created.push((await api.samples.create()).id);
      // The last row of the page that was read.
      if (number === 1) await api.delete(`/v1/samples/${before[2]}`);
    });

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(before);
    for (const id of created) await api.delete(`/v1/samples/${id}`);
  });

  it('have cursors, nodes and the state of the page', async () => {
    const ids = await idsOverRest();
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
  });

  it('have a page of 20 where `first` is no length, and treat an empty text as absent', async () => {
    for (let n = 0; n < 10; n++) await api.samples.create();

    for (const first of [undefined, null, 0, -1, 101, 2_147_483_647])
      expect((await page({ first })).edges).toHaveLength(20);
    expect((await page({ first: 100 })).edges.length).toBeGreaterThan(20);
    expect(await page({ after: '', q: '', status: null })).toEqual(await page());
    expect((await api.graphql('{ samples { nodes { id } } }')).body.data.samples.nodes).toHaveLength(20);
  });

  const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const NAME = 'samples';

  it.each([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('[').toString('base64url')],
    ['no list', Buffer.from('{}').toString('base64url')],
    ['null', Buffer.from('null').toString('base64url')],
    ['padding', `${cursor(NAME, 1)}=`],
    ['a space', ` ${cursor(NAME, 1)}`],
    ['white space inside', Buffer.from(`["${NAME}", 1]`).toString('base64url')],
    ['no position', cursor(NAME)],
    ['a longer position', cursor(NAME, 1, 1)],
    ['no name', cursor(1)],
    ['an id of zero', cursor(NAME, 0)],
    ['an id that is text', cursor(NAME, '1')],
    ['an id that is no integer', cursor(NAME, 1.5)],
    ['an id past the integers', cursor(NAME, 1e300)],
    ['the cursor of REST', btoa('3')],
    ['the cursor of another list', cursor('others', 1)],
  ])('reject a cursor with %s', async (_, after) => {
    const { data, errors } = (await api.graphql(PAGE, { after })).body;

    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ path: ['samples'], extensions: { code: 'BAD_USER_INPUT' } });
    expect(errors[0].message).toContain('cursor');
  });

  it('accept a position that no row has', async () => {
    expect((await page({ after: cursor(NAME, Number.MAX_SAFE_INTEGER) })).edges).toHaveLength(20);
    expect((await page({ after: cursor(NAME, 1) })).edges).toEqual([]);
  });

  it.each([
    '{ samples(first: "2") { totalCount } }',
    '{ samples(status: archived) { totalCount } }',
    '{ samples(after: 5) { totalCount } }',
  ])('reject %s by the schema', async (query) => {
    const { data, errors } = (await api.graphql(query)).body;
    expect(data).toBeUndefined();
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  it.each([
    ['for a page', '{ samples { nodes { id etag } edges { cursor } pageInfo { hasNextPage } } }', 1],
    ['for the count', '{ samples { totalCount nodes { id } } }', 2],
    ['for one object of each row', '{ samples(first: 50) { nodes { first { id } } } }', 2],
    ['for all texts', '{ samples(first: 50) { nodes { text first { id } } } }', 3],
    ['for the children of all parents', '{ samples { nodes { first { peers(limit: 2) { id } } } } }', 3],
    ['for single rows', '{ a: sample(id: 1) { id } b: sample(id: 2) { id } c: sample(id: 999) { id } }', 1],
    [
      'for their texts and objects',
      '{ a: sample(id: 1) { text first { id } } b: sample(id: 2) { text first { id } } }',
      3,
    ],
  ])('run one statement %s', async (_, query, statements) => {
    expect(await statementsOf(() => api.graphql(query))).toHaveLength(statements);
  });

  it('cost what their longest page may have, which is counted before anything is read', async () => {
    const costOf = async (query: string, variables?: object) =>
      (await api.graphql(query, variables, { 'graphql-cost': '1' })).body.extensions.cost.objects;

    expect(await costOf('{ samples(first: 5) { nodes { id first { id } } } }')).toBe(1 + 5 * 2);
    expect(await costOf('{ samples(first: 5) { edges { cursor node { id first { id } } } } }')).toBe(
      1 + 5 * 3,
    );
    expect(await costOf('{ samples { nodes { id } pageInfo { hasNextPage } totalCount } }')).toBe(
      1 + 20 + 500,
    );
    expect(await costOf('query ($n: Int) { samples(first: $n) { nodes { id } } }', { n: 101 })).toBe(1 + 20);
    expect(await costOf('{ samples(first: 3) { nodes { first { peers(limit: 7) { id } } } } }')).toBe(
      1 + 3 * (2 + 7),
    );

    const expensive = '{ samples(first: 100) { nodes { first { peers { first { id } } } } } }';
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
