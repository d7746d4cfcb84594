import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cacheExchange, Client, fetchExchange } from '@urql/core';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';

/** The client as its documentation shows it, with the running service. `npm run test:extra` tries more of them. */
describe('urql', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule]);
    await api.dummies.create();
    url = `${await api.listen()}/graphql`;
  });
  afterAll(() => api.stop());

  const clientOf = (options: object) =>
    new Client({ url, exchanges: [cacheExchange, fetchExchange], ...options });
  const DUMMIES = '{ dummies(first: 2, status: open) { nodes { text } } }';

  it.each([
    [
      'with the header against CSRF, by GET',
      { fetchOptions: { headers: { 'apollo-require-preflight': 'true' } } },
    ],
    ['without GET', { preferGetMethod: false }],
  ])('reads and writes %s', async (_, options) => {
    const client = clientOf(options);
    const { data, error } = await client.query(DUMMIES, {}).toPromise();
    expect(error).toBeUndefined();
    expect(data.dummies.nodes.map(({ text }: any) => text)).toEqual(['Some text']);

    const mutation = 'mutation ($id: ID!) { updateDummy(id: $id, input: {}) { id } }';
    expect((await client.mutation(mutation, { id: 1 }).toPromise()).data.updateDummy.id).toBe('1');
  });

  it('is told what is missing, by default', async () => {
    const { data, error } = await clientOf({}).query(DUMMIES, {}).toPromise();
    expect(data).toBeUndefined();
    expect(error?.message).toContain('apollo-require-preflight');
  });
});
