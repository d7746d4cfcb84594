import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditServer } from 'graphql-http';
import { startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

/** Optional, and refused on purpose: a page of another site can make a browser send a GET without asking first. */
const NOT_OFFERED = ['5A70', 'D6D5', '6A70'];

const MODERN = 'application/graphql-response+json';

describe.each(STORES)('GraphQL over HTTP on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
    await api.app.listen(0, '127.0.0.1');
  });
  afterAll(() => api.stop());

  it('passes the public audit', async () => {
    const results = await auditServer({ url: `${await api.app.getUrl()}/graphql`, fetchFn: fetch });
    const rest = results.filter(({ status }) => status !== 'ok');

    expect(results.length).toBeGreaterThan(50);
    expect(rest.map(({ id }) => id).toSorted()).toEqual(NOT_OFFERED.toSorted());
    expect(rest.every(({ status }) => status === 'notice')).toBe(true);
  });

  it('gives each answer an id and the security headers of all answers', async () => {
    const { headers } = await api.graphql('{ users { id } }');

    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'query={users{id}}'],
    ['text', 'text/plain', '{"query":"{users{id}}"}'],
    ['a multipart form', 'multipart/form-data; boundary=x', '--x--'],
    ['the operation itself', 'application/graphql', '{users{id}}'],
  ])('never reads %s', async (_, type, payload) => {
    const reply = await api.send({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': type },
      payload,
    });

    expect(reply).toBeError('UNSUPPORTED_MEDIA_TYPE');
  });

  it.each([
    ['a batch', [{ query: '{ users { id } }' }], 'batches'],
    ['an empty batch', [], 'batches'],
    ['no object', '"{ users { id } }"', 'object'],
    ['no JSON', '{', 'not JSON'],
    ['no body', '', 'object'],
    ['no query', {}, '"query"'],
    ['a query that is not text', { query: 5 }, '"query"'],
    ['variables that are no object', { query: '{ users { id } }', variables: [] }, '"variables"'],
    [
      'an operation name that is not text',
      { query: '{ users { id } }', operationName: 5 },
      '"operationName"',
    ],
    ['extensions that are no object', { query: '{ users { id } }', extensions: 'x' }, '"extensions"'],
  ])('refuses %s', async (_, body, word) => {
    for (const accept of ['application/json', MODERN]) {
      const reply = await api.post('/graphql', body, { accept });

      expect(reply).toHaveStatus(400);
      expect(reply.headers['content-type']).toBe(`${accept}; charset=utf-8`);
      expect(reply.body).toEqual({
        errors: [
          {
            message: expect.stringContaining(word),
            extensions: { code: 'BAD_USER_INPUT', requestId: reply.headers['x-request-id'] },
          },
        ],
      });
    }
  });

  it('refuses a body that is too large', async () => {
    expect(await api.graphql(`{ users { id } } # ${'x'.repeat(1024 * 1024)}`)).toBeError('PAYLOAD_TOO_LARGE');
  });

  it.each(['{ users {', '{ nope }', 'query A { users { id } } query B { users { id } }'])(
    'says by the status, to those who can read it, that %j was not executed',
    async (query) => {
      expect(await api.post('/graphql', { query })).toHaveStatus(200);
      expect(await api.post('/graphql', { query }, { accept: MODERN })).toHaveStatus(400);
    },
  );

  it('answers by 200 what was executed, whatever came of it', async () => {
    const reply = await api.graphql(
      'mutation { updateUser(id: 0, input: {}) { id } }',
      {},
      { accept: MODERN },
    );

    expect(reply).toHaveStatus(200);
    expect(reply.body.data).toBeNull();
  });

  it('executes the operation that is named', async () => {
    const query = 'query A { user(id: 1) { id } } query B { users { name } }';

    expect((await api.post('/graphql', { query, operationName: 'B' })).body).toEqual({
      data: { users: [{ name: 'Author' }] },
    });
    expect((await api.post('/graphql', { query, operationName: 'C' })).body.errors).toHaveLength(1);
  });

  it('executes by POST alone', async () => {
    const url = `/graphql?query=${encodeURIComponent('{ users { id } }')}`;

    expect(await api.get(url, { accept: 'application/json' })).toBeError('METHOD_NOT_ALLOWED');
    expect(await api.put('/graphql', {})).toBeError('METHOD_NOT_ALLOWED');
    expect((await api.post('/graphql/', { query: '{ users { id } }' })).body.data.users).toHaveLength(1);
  });

  it('has no subscriptions', async () => {
    expect((await api.graphql('subscription { users { id } }')).body.errors).toHaveLength(1);
  });
});
