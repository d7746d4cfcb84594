import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Dummy, startApi, type TestApi } from './support/api.js';
import { invalidBodies, MAX_ITEMS, OTHER_TYPES, withItems } from './support/bodies.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { operations } from './support/reference.js';
import { fill, send } from './support/requests.js';
import { ANY_STORE } from './support/stores.js';

const SMALL = 64 * 1024;

/** Bodies that can be read, and are no object with the fields of a dummy. */
const READABLE = new Set([
  'nothing',
  'an array',
  'an array of it',
  'a string',
  'a number',
  'true',
  'null',
  'a lone surrogate, escaped',
  'two surrogates the wrong way round',
  'NUL, escaped',
]);

onEach('bodies of a resource', { modules: [FixtureModule] }, ({ api }) => {
  let existing: Dummy;
  beforeAll(async () => {
    existing = await api.dummies.create();
  });

  it.each(invalidBodies('text'))('reject %s on POST and on PATCH, and store nothing', async (what, body) => {
    const code = READABLE.has(what) ? 'VALIDATION_ERROR' : 'MALFORMED_REQUEST';
    expect(await api.post('/v1/dummies', body)).toBeError(code);
    expect(await api.patch(`/v1/dummies/${existing.id}`, body)).toBeError(code);
    expect(await api.dummies.count()).toBe(1);
    expect(await api.dummies.get(existing.id)).toEqual(existing);
  });

  it.each(OTHER_TYPES)('are read as JSON only with its content type: not with %s', async (_, type) => {
    const reply = await api.send({
      method: 'PATCH',
      url: `/v1/dummies/${existing.id}`,
      payload: Buffer.from('{"text":"Read"}'),
      headers: type === undefined ? {} : { 'content-type': type },
    });

    expect(reply).toBeError('UNSUPPORTED_MEDIA_TYPE');
  });

  it.each(['application/json; charset=utf-8', 'application/merge-patch+json'])(
    'may have the type %s',
    async (type) => {
      const reply = await api.patch(`/v1/dummies/${existing.id}`, { text: type }, { 'content-type': type });

      expect(reply).toHaveStatus(200);
      expect(reply.body.data.text).toBe(type);
      existing = reply.body.data;
    },
  );

  it('reject a missing body', async () => {
    for (const [method, url] of [
      ['POST', '/v1/dummies'],
      ['PUT', `/v1/dummies/${existing.id}`],
    ] as const)
      expect(await api.send({ method, url })).toBeError('VALIDATION_ERROR');
  });

  it('accept 1 MiB, and reject one byte more', async () => {
    const frame = '{"text":"T","more":""}';
    const body = (size: number) => frame.replace('""', `"${'c'.repeat(size - frame.length)}"`);

    const { id } = (await api.post('/v1/dummies', body(1024 * 1024))).body.data;
    expect(await api.post('/v1/dummies', body(1024 * 1024 + 1))).toBeError('PAYLOAD_TOO_LARGE');
    await api.delete(`/v1/dummies/${id}`);
  });

  it('accept 10,000 members and array elements in all', async () => {
    const { id } = (await api.post('/v1/dummies', withItems(MAX_ITEMS, { text: 'T' }))).body.data;
    expect(await api.patch(`/v1/dummies/${id}`, withItems(MAX_ITEMS, {}))).toHaveStatus(200);
    await api.delete(`/v1/dummies/${id}`);
  });

  it('may have undeclared fields with thousands of members', async () => {
    const many = Object.fromEntries(Array.from({ length: 4900 }, (_, n) => [`k${n}`, n]));

    const { id, text } = (await api.post('/v1/dummies', { text: 'T', ...many, more: many })).body.data;

    expect(text).toBe('T');
    const messageFor = async (members: number) => {
      const value = Object.fromEntries(Object.entries(many).slice(0, members));
      const reply = await api.post('/v1/dummies', { text: value });
      expect(reply).toBeError('VALIDATION_ERROR');
      return reply.body.error.message;
    };
    expect(await messageFor(1000)).not.toContain('members');
    for (const members of [1001, 4900])
      expect(await messageFor(members)).toBe('text must not have more than 1000 members');
    await api.delete(`/v1/dummies/${id}`);
  });

  it('keep every character of a well-formed text', async () => {
    const text = '\u0001\t\r\n"\\/\u007f\u0085\u2028é漢字😀\uFFFD\uFFFF\u{10FFFF}e\u0301';

    const { id } = await api.dummies.create({ text });

    expect((await api.dummies.get(id)).text).toBe(text);
  });
});

describe('bodies', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, { WRITE_ACCESS: 'open' }, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const withBody = operations.filter(({ operation }) => operation.requestBody);
  const small = withBody.filter(({ path }) => /^\/(?:auth|v1\/webhooks|v1\/orders)/.test(path));
  const others = withBody.filter((each) => !small.includes(each));

  it.each(small.map(({ method, path }) => [method, path]))(
    'over 64 KiB are too large for %s %s',
    async (method, path) => {
      const url = fill(path);
      expect(await send(api, method, url, padded(SMALL + 1))).toBeError('PAYLOAD_TOO_LARGE');
      expect(await send(api, method, url, padded(SMALL))).not.toHaveStatus(413);
    },
  );

  it.each([['POST', '/v1/dummies'], ...others.map(({ method, path }) => [method, path] as const)])(
    'over 64 KiB are accepted by %s %s',
    async (method, path) => {
      const url = fill(path);
      expect(await send(api, method, url, padded(SMALL + 1))).not.toHaveStatus(413);
    },
  );

  it.each([
    ['POST', '/v1/dummies'],
    ['PUT', '/v1/dummies/1'],
    ['PATCH', '/v1/dummies/1'],
    ['POST', '/auth/register/'],
  ])('with more than 10,000 members and elements are unreadable for %s %s', async (method, path) => {
    expect(await send(api, method, path, withItems(MAX_ITEMS + 1, {}))).toBeError('MALFORMED_REQUEST');
  });

  it.each([
    ['POST', '/v1/webhooks/1/test', 401],
    ['POST', '/v1/webhooks/1/deliveries/1/redeliver', 401],
    ['POST', '/auth/passkeys/login/options/', 200],
    ['DELETE', '/v1/dummies/999', 404],
  ])('that are empty, in chunks and without a type, are none for %s %s', async (method, path, status) => {
    if (!api.app.getHttpServer().listening) await api.listen();
    const { port } = api.app.getHttpServer().address() as AddressInfo;
    const sendChunks = async (text: string) => {
      const request = sendRequest({ port, method, path, headers: { 'transfer-encoding': 'chunked' } });
      request.end(text);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };

    expect(await sendChunks('')).toBe(status);
    expect(await sendChunks('{}')).toBe(415);
  });

  it('with more than 10,000 members and elements are unreadable for GraphQL', async () => {
    const query = '{ dummies { nodes { id } } }';
    const reply = await api.post('/graphql', withItems(MAX_ITEMS + 1, { query }));

    expect(reply).toHaveStatus(400);
    expect(reply.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(await api.post('/graphql', withItems(MAX_ITEMS, { query }))).toHaveStatus(200);

    // Only variables of the type JSON do not count, such as one of any size.
    const list = (length: number) => ({ query, variables: { list: Array.from({ length }, () => 0) } });
    expect(await api.post('/graphql', list(MAX_ITEMS - 3))).toHaveStatus(200);
    const rejected = await api.post('/graphql', list(MAX_ITEMS - 2));
    expect(rejected).toHaveStatus(400);
    expect(rejected.body).toMatchObject({
      errors: [{ message: expect.stringContaining('10000 members and array elements') }],
    });
  });

  it('of a handler that says so are limited by their size only', async () => {
    const text = `{"list":[${'1,'.repeat(32_000)}1]}`;
    const reply = await send(api, 'POST', '/v1/stubs', text);
    expect(reply).toHaveStatus(201);
    expect((await api.get(reply.headers['location']!)).body.data.text.list).toHaveLength(32_001);
  });
});

const padded = (size: number): string => `{"padding":"${'x'.repeat(size - '{"padding":""}'.length)}"}`;
