import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getSelector,
  Network,
  RecordSource,
  Store,
  type ConcreteRequest,
} from 'relay-runtime';
import { startApi, type TestApi } from '../support/api.js';
import { ANY_STORE } from '../support/stores.js';
import { BIN, compile, makeFolder, run } from './tools.js';

/** The clients as their documentation shows them, with the running service. */
describe('GraphQL with', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
    for (let n = 0; n < 7; n++) await api.post('/v1/posts', { title: `Post ${n}`, content: 'Some content' });
    await api.app.listen(0, '127.0.0.1');
    url = `${await api.app.getUrl()}/graphql`;
  });
  afterAll(() => api.stop());

  const titles = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `Post ${from + n}`);

  it('Apollo Client appends pages with relayStylePagination', async () => {
    const client = new ApolloClient({
      link: new HttpLink({ uri: url }),
      cache: new InMemoryCache({
        typePolicies: { Query: { fields: { posts: relayStylePagination(['status', 'q', 'orderBy']) } } },
      }),
    });
    const query = gql`
      query ($after: String) {
        posts(first: 3, after: $after, orderBy: { field: title, direction: ASC }) {
          edges {
            cursor
            node {
              id
              title
              author {
                id
                name
              }
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    `;
    const shownPosts = () => client.readQuery<any>({ query }).posts;
    const shown = client.watchQuery<any>({ query });
    const subscription = shown.subscribe(() => undefined);
    await client.query({ query });
    for (const expected of [6, 7]) {
      await shown.fetchMore({ variables: { after: shownPosts().pageInfo.endCursor } });
      const { edges } = shownPosts();
      expect(edges.map(({ node }: any) => node.title)).toEqual(titles(0, expected));
    }
    expect(shownPosts().pageInfo.hasNextPage).toBe(false);

    const created = await client.mutate<any>({
      mutation: gql`
        mutation ($input: CreatePostInput!) {
          createPost(input: $input) {
            id
            etag
          }
        }
      `,
      variables: { input: { title: 'By Apollo', content: 'C' } },
    });
    const { body } = await api.get(`/v1/posts/${created.data.createPost.id}`);
    expect(body.data.title).toBe('By Apollo');
    subscription.unsubscribe();
    client.stop();
  });

  describe('a generated client:', () => {
    let folder: string;
    beforeAll(() => {
      folder = makeFolder();
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

    it("the preset 'client' of graphql-codegen makes typed documents from schema.gql", async () => {
      write('package.json', '{ "type": "module" }');
      write(
        'codegen.json',
        JSON.stringify({
          schema: resolve('schema.gql'),
          documents: 'use.ts',
          generates: {
            'gql/': {
              preset: 'client',
              config: { scalars: { DateTime: 'string' }, useTypeImports: true },
            },
          },
        }),
      );
      write(
        'use.ts',
        `import type { ResultOf, VariablesOf } from '@graphql-typed-document-node/core';
         import { graphql } from './gql/gql.js';

         const page = graphql(\`query Page($after: String) {
           posts(first: 2, after: $after, status: published) { nodes { id createdAt author { name } } totalCount }
         }\`);
         const post = graphql(\`mutation Post($input: CreatePostInput!) {
           createPost(input: $input) { title createdAt }
         }\`);

         export const use = (found: ResultOf<typeof page>, made: ResultOf<typeof post>): string[] => [
           ...found.posts.nodes.map(({ createdAt, author }) => createdAt.slice(0, 4) + (author?.name ?? '')),
           found.posts.totalCount.toFixed(),
           made.createPost.createdAt,
         ];
         export const variables: VariablesOf<typeof post> = { input: { title: 'T', content: 'C' } };
         // @ts-expect-error a time is text
         export const wrong = (found: ResultOf<typeof page>): number => found.posts.nodes[0]!.createdAt;
         // @ts-expect-error the cursor is text
         export const alsoWrong: VariablesOf<typeof page> = { after: 5 };`,
      );
      await run(join(BIN, 'graphql-codegen'), ['--config', 'codegen.json'], folder);

      await compile(['--noEmit', '--skipLibCheck', '--module', 'esnext', 'use.ts'], folder);
      expect(readdirSync(join(folder, 'gql'))).toContain('graphql.ts');
    });

    it('Relay compiles @connection and @refetchable on Query, and appends pages', async () => {
      write('package.json', '{ "type": "commonjs" }');
      write(
        'PostList.js',
        `graphql\`
           fragment PostList_query on Query
             @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" })
             @refetchable(queryName: "PostListPaginationQuery") {
             posts(first: $count, after: $cursor, orderBy: { field: title, direction: ASC })
               @connection(key: "PostList_posts") {
               edges { node { id title author { id name } } }
             }
           }\`;
         graphql\`query PostListQuery { me { id } ...PostList_query }\`;`,
      );
      write(
        'relay.config.json',
        JSON.stringify({
          src: '.',
          schema: './schema.graphql',
          language: 'javascript',
          eagerEsModules: false,
          artifactDirectory: './__generated__',
          customScalarTypes: { DateTime: 'string', JSON: 'mixed' },
        }),
      );
      mkdirSync(join(folder, '__generated__'));
      copyFileSync('schema.gql', join(folder, 'schema.graphql'));
      await run(join(BIN, 'relay-compiler'), ['relay.config.json'], folder);

      const load = createRequire(join(folder, 'PostList.js'));
      const artifact = (name: string) => load(`./__generated__/${name}.graphql.js`) as ConcreteRequest;
      const environment = new Environment({
        network: Network.create(async ({ text }, variables) => {
          const body = JSON.stringify({ query: text, variables });
          const headers = { 'content-type': 'application/json' };
          return (await fetch(url, { method: 'POST', headers, body })).json() as Promise<any>;
        }),
        store: new Store(new RecordSource()),
        // Ids are unique among the objects of a type.
        getDataID: ({ id }, type) => (id === undefined ? undefined : `${type}:${String(id)}`) as never,
      });
      const query = artifact('PostListQuery');
      const operation = createOperationDescriptor(query, {});
      environment.retain(operation);
      await fetchQuery(environment, query as never, {}).toPromise();
      const shown = (): any => {
        const root = environment.lookup(operation.fragment).data as never;
        const selector = getSelector(load('./__generated__/PostList_query.graphql.js'), root);
        return (environment.lookup(selector as never).data as any).posts;
      };
      const shownTitles = () =>
        shown()
          .edges.map(({ node }: any) => node.title)
          .filter((title: string) => title.startsWith('Post'));

      expect(shown().edges).toHaveLength(3);
      for (let page = 0; page < 3 && shown().pageInfo.hasNextPage; page++) {
        const cursor = shown().pageInfo.endCursor;
        const next = { count: 3, cursor };
        await fetchQuery(
          environment,
          artifact('PostListPaginationQuery') as never,
          next as never,
        ).toPromise();
      }
      expect(shownTitles()).toEqual(titles(0, 7));
      expect(shown().pageInfo.hasNextPage).toBe(false);
    });
  });
});
