import { expect, it } from '@jest/globals';
import type { TestApi } from './api.js';
import { statementsOf } from './statements.js';

/** A connection of the schema, by the names of its fields. */
export interface Connection {
  /** Such as `posts`; over REST it has the same name. */
  readonly list: string;
  /** One of them by its id, such as `post`. */
  readonly one: string;
  /** An object that each has, such as `author`. */
  readonly object: string;
  /** A list of that object, such as `posts`. */
  readonly children: string;
  /** A text that is loaded when it is requested, such as `content`. */
  readonly text: string;
  /** Its own variables, as the document declares them: `$status: PostStatus`. */
  readonly variables: string;
  /** What its cursors begin with, and the position of a row. */
  readonly cursor: readonly [name: string, ...position: unknown[]];
  /** Creates one row. */
  readonly create: () => Promise<unknown>;
}

export const cursorOf = (...parts: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** Reads a connection. */
export class ConnectionReader {
  constructor(
    private readonly api: () => TestApi,
    private readonly connection: Connection,
  ) {}

  /** The response to a query of a page. */
  async query(variables: object = {}): Promise<any> {
    const { list, variables: own } = this.connection;
    const passed = own.replaceAll(/\$(\w+): [\w!]+/g, '$1: $$$1');
    const document = `query ($first: Int, $after: String, $q: String, ${own}) {
      ${list}(first: $first, after: $after, q: $q, ${passed}) {
        edges { cursor node { id } }
        nodes { id }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        totalCount
      }
    }`;
    return (await this.api().graphql(document, variables)).body;
  }

  /** @throws Error with the errors of the response */
  async page(variables: object = {}): Promise<any> {
    const { data, errors } = await this.query(variables);
    if (errors) throw new Error(JSON.stringify(errors));
    return data[this.connection.list];
  }

  async codeOf(variables: object): Promise<any> {
    return (await this.query(variables)).errors?.[0].extensions.code;
  }

  /** Reads all pages. @param between runs between two of them @returns the ids */
  async all(variables: object, between?: (page: number) => Promise<unknown>): Promise<number[]> {
    const ids: number[] = [];
    let after: string | null = null;
    for (let number = 1; ; number++) {
      const { edges, pageInfo } = await this.page({ ...variables, after });
      ids.push(...edges.map(({ node }: any) => Number(node.id)));
      if (!pageInfo.hasNextPage) return ids;
      after = pageInfo.endCursor;
      await between?.(number);
    }
  }

  /** The ids of the same list over REST. */
  async overRest(query = ''): Promise<number[]> {
    const { body } = await this.api().get(`/v1/${this.connection.list}?limit=100&${query}`);
    return body.data.map(({ id }: { id: number }) => id);
  }
}

/** Tests what all connections share, on one with 8 to 19 rows. */
export function testConnection(api: () => TestApi, connection: Connection): void {
  const { list, one, object, children, text, create } = connection;
  const [name, ...position] = connection.cursor;
  const reader = new ConnectionReader(api, connection);
  const page = reader.page.bind(reader);

  it('have cursors, nodes and the state of the page', async () => {
    const ids = await reader.overRest();
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
    expect((await page({ q: 'no row has this' })).totalCount).toBe(0);
  });

  it('have a page of 20 where `first` is no length, and treat an empty text as absent', async () => {
    for (let n = 0; n < 12; n++) await create();

    for (const first of [undefined, null, 0, -1, 101, 2_147_483_647])
      expect((await page({ first })).edges).toHaveLength(20);
    expect((await page({ first: 100 })).edges.length).toBeGreaterThan(20);
    expect(await page({ after: '', q: '', status: null })).toEqual(await page());
    const { data } = (await api().graphql(`{ ${list} { nodes { id } } }`)).body;
    expect(data[list].nodes).toHaveLength(20);
  });

  const before = position.slice(0, -1);
  it.each([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('[').toString('base64url')],
    ['no list', Buffer.from('{}').toString('base64url')],
    ['null', Buffer.from('null').toString('base64url')],
    ['padding', `${cursorOf(name, ...position)}=`],
    ['a space', ` ${cursorOf(name, ...position)}`],
    ['white space inside', Buffer.from(JSON.stringify([name, ...position], null, 1)).toString('base64url')],
    ['no position', cursorOf(name)],
    ['a longer position', cursorOf(name, ...position, 1)],
    ['no name', cursorOf(...position)],
    ['an id of zero', cursorOf(name, ...before, 0)],
    ['an id that is text', cursorOf(name, ...before, '1')],
    ['an id that is no integer', cursorOf(name, ...before, 1.5)],
    ['an id past the integers', cursorOf(name, ...before, 1e300)],
    ['the cursor of REST', btoa('3')],
    ['the cursor of another list', cursorOf('others', ...position)],
  ])('reject a cursor with %s', async (_, after) => {
    const { data, errors } = await reader.query({ after });

    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ path: [list], extensions: { code: 'BAD_USER_INPUT' } });
    expect(errors[0].message).toContain('cursor');
  });

  it.each(['first: "2"', 'status: archived', 'after: 5'])('reject %s by the schema', async (argument) => {
    const { data, errors } = (await api().graphql(`{ ${list}(${argument}) { totalCount } }`)).body;
    expect(data).toBeUndefined();
    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  it.each([
    ['for a page', `{ ${list} { nodes { id etag } edges { cursor } pageInfo { hasNextPage } } }`, 1],
    ['for the count', `{ ${list} { totalCount nodes { id } } }`, 2],
    ['for one object of each row', `{ ${list}(first: 50) { nodes { ${object} { id } } } }`, 2],
    ['for all texts', `{ ${list}(first: 50) { nodes { ${text} ${object} { id } } } }`, 3],
    [
      'for the children of all parents',
      `{ ${list} { nodes { ${object} { ${children}(limit: 2) { id } } } } }`,
      3,
    ],
    ['for single rows', `{ a: ${one}(id: 1) { id } b: ${one}(id: 2) { id } c: ${one}(id: 999) { id } }`, 1],
    [
      'for their texts and objects',
      `{ a: ${one}(id: 1) { ${text} ${object} { id } } b: ${one}(id: 2) { ${text} ${object} { id } } }`,
      3,
    ],
  ])('run one statement %s', async (_, query, statements) => {
    expect(await statementsOf(() => api().graphql(query))).toHaveLength(statements);
  });

  it('cost what their longest page may have, which is counted before anything is read', async () => {
    const costOf = async (query: string, variables?: object) =>
      (await api().graphql(query, variables, { 'graphql-cost': '1' })).body.extensions.cost.objects;

    expect(await costOf(`{ ${list}(first: 5) { nodes { id ${object} { id } } } }`)).toBe(1 + 5 * 2);
    const edges = `{ ${list}(first: 5) { edges { cursor node { id ${object} { id } } } } }`;
    expect(await costOf(edges)).toBe(1 + 5 * 3);
    const total = `{ ${list} { nodes { id } pageInfo { hasNextPage } totalCount } }`;
    expect(await costOf(total)).toBe(1 + 20 + 500);
    const tooLong = `query ($n: Int) { ${list}(first: $n) { nodes { id } } }`;
    expect(await costOf(tooLong, { n: 101 })).toBe(1 + 20);
    const nested = `{ ${list}(first: 3) { nodes { ${object} { ${children}(limit: 7) { id } } } } }`;
    expect(await costOf(nested)).toBe(1 + 3 * (2 + 7));

    const expensive = `{ ${list}(first: 100) { nodes { ${object} { ${children} { ${object} { id } } } } } }`;
    const statements = await statementsOf(async () => {
      const { errors } = (await api().graphql(expensive)).body;
      expect(errors[0]).toMatchObject({
        message: 'The operation has 20201 objects to respond with, and at most 20000 are allowed',
        extensions: { code: 'QUERY_TOO_COMPLEX' },
      });
    });
    expect(statements).toEqual([]);
  });
}
