import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditServer } from 'graphql-http';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';

/** A browser sends it only after a preflight, which prevents CSRF by `GET`. */
const PREFLIGHT = { 'apollo-require-preflight': 'true' };

const MODERN = 'application/graphql-response+json';

describe('GraphQL over HTTP', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule]);
    await api.dummies.create();
    await api.listen();
  });
  afterAll(() => api.stop());

  it('passes the public audit without a notice, when GET queries have the preflight header', async () => {
    const results = await auditServer({
      url: `${await api.app.getUrl()}/graphql`,
      fetchFn: (url: string, init: RequestInit = {}) =>
        fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), ...PREFLIGHT } }),
    });

    expect(results.length).toBeGreaterThan(50);
    expect(results.filter(({ status }) => status !== 'ok')).toEqual([]);
  });

  it('sends a request id and the security headers with each response', async () => {
    const { headers } = await api.graphql('{ dummies { nodes { id } } }');

    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'query={dummies{nodes{id}}}'],
    ['text', 'text/plain', '{"query":"{dummies{nodes{id}}}"}'],
    ['a multipart form', 'multipart/form-data; boundary=x', '--x--'],
    ['the operation itself', 'application/graphql', '{dummies{nodes{id}}}'],
  ])('rejects the content type of %s', async (_, type, payload) => {
    const reply = await api.send({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': type },
      payload,
    });

    expect(reply).toBeError('UNSUPPORTED_MEDIA_TYPE');
  });

  it.each(['text/event-stream', 'text/event-stream, application/json'])(
    'serves JSON to a client that accepts %s',
    async (accept) => {
      expect(
        (await api.graphql('{ dummies { nodes { id } } }', {}, { accept })).body.data.dummies.nodes,
      ).toHaveLength(1);
    },
  );

  it.each([
    ['a batch', [{ query: '{ dummies { nodes { id } } }' }], 'batches'],
    ['an empty batch', [], 'batches'],
    ['a string', '"{ dummies { nodes { id } } }"', 'object'],
    ['malformed JSON', '{', 'not JSON'],
    ['no body', '', 'object'],
    ['no query', {}, '"query"'],
    ['a query that is not text', { query: 5 }, '"query"'],
    [
      'variables that are not an object',
      { query: '{ dummies { nodes { id } } }', variables: [] },
      '"variables"',
    ],
    [
      'an operation name that is not text',
      { query: '{ dummies { nodes { id } } }', operationName: 5 },
      '"operationName"',
    ],
    [
      'extensions that are not an object',
      { query: '{ dummies { nodes { id } } }', extensions: 'x' },
      '"extensions"',
    ],
  ])('rejects %s', async (_, body, word) => {
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

  it('rejects a body that is too large, and a document of more than 64 KiB', async () => {
    const document = (bytes: number) => '{ dummies { nodes { id } } } #'.padEnd(bytes, 'x');

    expect(await api.graphql(document(64 * 1024))).toHaveStatus(200);
    expect(await api.graphql(document(64 * 1024 + 1))).toBeError('PAYLOAD_TOO_LARGE');
    expect(await api.graphql(`${document(60)}${'é'.repeat(32 * 1024)}`)).toBeError('PAYLOAD_TOO_LARGE');
    expect(await api.graphql(`{ dummies { nodes { id } } } # ${'x'.repeat(1024 * 1024)}`)).toBeError(
      'PAYLOAD_TOO_LARGE',
    );
  });

  it.each([
    '{ dummies {',
    '{ nope }',
    'query A { dummies { nodes { id } } } query B { dummies { nodes { id } } }',
  ])(
    'returns 400 for %j, which was not executed, if the client accepts the newer media type',
    async (query) => {
      expect(await api.post('/graphql', { query })).toHaveStatus(200);
      expect(await api.post('/graphql', { query }, { accept: MODERN })).toHaveStatus(400);
    },
  );

  it('responds with 200 to an executed operation, even if it fails', async () => {
    const reply = await api.graphql(
      'mutation { updateDummy(id: 0, input: {}) { id } }',
      {},
      { accept: MODERN },
    );

    expect(reply).toHaveStatus(200);
    expect(reply.body.data).toBeNull();
  });

  it('executes the operation named by operationName', async () => {
    const query = 'query A { dummy(id: 1) { id } } query B { dummies { nodes { text } } }';

    expect((await api.post('/graphql', { query, operationName: 'B' })).body).toEqual({
      data: { dummies: { nodes: [{ text: 'Some text' }] } },
    });
    expect((await api.post('/graphql', { query, operationName: 'C' })).body.errors).toHaveLength(1);
  });

  describe('by GET', () => {
    const get = (query: string, headers: Record<string, string> = PREFLIGHT, more = '') =>
      api.get(`/graphql?query=${encodeURIComponent(query)}${more}`, {
        accept: 'application/json',
        ...headers,
      });

    it('executes queries', async () => {
      const variables = encodeURIComponent('{"id":"1"}');

      expect((await get('{ dummies { nodes { text } } }')).body).toEqual({
        data: { dummies: { nodes: [{ text: 'Some text' }] } },
      });
      expect(
        (await get('query ($id: ID!) { dummy(id: $id) { id } }', PREFLIGHT, `&variables=${variables}`)).body,
      ).toEqual({ data: { dummy: { id: '1' } } });
    });

    it('takes the first value of a repeated parameter', async () => {
      const more = '&query={nope}&variables={"id":"1"}&variables=x&operationName=A&operationName=B';

      const { body } = await get('query A($id: ID!) { dummy(id: $id) { text } }', PREFLIGHT, more);
      expect(body).toEqual({ data: { dummy: { text: 'Some text' } } });
    });

    it('responds to HEAD like GET, without a body', async () => {
      const reply = await api.send({
        method: 'HEAD',
        url: `/graphql?query=${encodeURIComponent('{ dummies { nodes { text } } }')}`,
        headers: PREFLIGHT,
      });

      expect(reply).toHaveStatus(200);
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(reply.text).toBe('');
    });

    it('rejects mutations, and changes nothing', async () => {
      const reply = await get('mutation { updateDummy(id: 1, input: { text: "Other" }) { id } }');

      expect(reply).toHaveStatus(405);
      expect(reply.headers['allow']).toBe('POST');
      expect(reply.body.data).toBeUndefined();
      expect((await api.dummies.get(1)).text).toBe('Some text');
    });

    it('rejects a request that a browser sends without a preflight', async () => {
      const reply = await get('{ dummies { nodes { id } } }', {});

      expect(reply).toHaveStatus(400);
      expect(reply.body.errors[0].message).toContain('Cross-Site Request Forgery');
    });

    it.each(['', '&variables=x', '&variables=[]', '&extensions=5'])(
      'rejects invalid parameters: %s',
      async (more) => {
        const reply = await get(more === '' ? '' : '{ dummies { nodes { id } } }', PREFLIGHT, more);

        expect(reply).toHaveStatus(400);
        expect(reply.body).toEqual({
          errors: [
            {
              message: expect.any(String),
              extensions: { code: 'BAD_USER_INPUT', requestId: reply.headers['x-request-id'] },
            },
          ],
        });
      },
    );

    it('rejects a subscription as an error of the client', async () => {
      for (const accept of ['application/json', MODERN]) {
        const { body } = await api.post('/graphql', { query: 'subscription { events { id } }' }, { accept });
        expect(body.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
      }
    });

    it('supports no other method', async () => {
      const reply = await api.put('/graphql', {});

      expect(reply).toBeError('METHOD_NOT_ALLOWED');
      expect(reply.headers['allow']).toBe('GET, HEAD, POST');
      expect(
        (await api.post('/graphql/', { query: '{ dummies { nodes { id } } }' })).body.data.dummies.nodes,
      ).toHaveLength(1);
    });
  });
});
