import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Post, startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { operations } from './support/reference.js';
import { send } from './support/requests.js';
import { STORES } from './support/stores.js';

const utf8 = (text: string) => Buffer.from(text);
const bytes = (...values: number[]) => Buffer.from(values);
const withTitle = (title: Buffer) => Buffer.concat([utf8('{"content":"C","title":"'), title, utf8('"}')]);

/** Bodies that are not a valid JSON object of a post. */
const INVALID: [what: string, body: Buffer][] = [
  ['nothing', utf8('')],
  ['blanks', utf8(' \n\t ')],
  ['an array', utf8('[]')],
  ['an array of a post', utf8('[{"title":"T","content":"C"}]')],
  ['a string', utf8('"title"')],
  ['a number', utf8('12')],
  ['true', utf8('true')],
  ['null', utf8('null')],
  ['an object cut short', utf8('{"title":"T","content":"C"')],
  ['a string cut short', utf8('{"title":"T')],
  ['a trailing comma', utf8('{"title":"T","content":"C",}')],
  ['two objects', utf8('{"title":"T","content":"C"}{"title":"T","content":"C"}')],
  ['single quotes', utf8(`{'title':'T','content':'C'}`)],
  ['names without quotes', utf8('{title:"T",content:"C"}')],
  ['a comment', utf8('{"title":"T",/* c */"content":"C"}')],
  ['NaN', utf8('{"title":"T","content":"C","x":NaN}')],
  ['Infinity', utf8('{"title":"T","content":"C","x":Infinity}')],
  ['a number with a leading zero', utf8('{"title":"T","content":"C","x":01}')],
  ['a raw line feed in a string', utf8('{"title":"T\n","content":"C"}')],
  ['a byte order mark', Buffer.concat([bytes(0xef, 0xbb, 0xbf), utf8('{"title":"T","content":"C"}')])],
  ['UTF-16', Buffer.from('{"title":"T","content":"C"}', 'utf16le')],
  ['a form', utf8('title=T&content=C')],
  ['XML', utf8('<post><title>T</title><content>C</content></post>')],
  ['a title named twice', utf8('{"title":"T","title":"U","content":"C"}')],
  ['a title named twice, once with an escape', utf8('{"title":"T","\\u0074itle":"U","content":"C"}')],
  ['a member named twice further down', utf8('{"title":"T","content":"C","x":[{"a":1,"a":1}]}')],
  ['__proto__', utf8('{"title":"T","content":"C","__proto__":{"status":"published"}}')],
  ['__proto__ with an escape', utf8('{"title":"T","content":"C","\\u005f_proto__":{}}')],
  ['a lone surrogate, escaped', utf8('{"title":"\\ud800","content":"C"}')],
  ['two surrogates the wrong way round', utf8('{"title":"\\udc00\\ud800","content":"C"}')],
  ['a surrogate in UTF-8', withTitle(bytes(0xed, 0xa0, 0x80))],
  ['a stray continuation byte', withTitle(bytes(0x80))],
  ['a character cut short', withTitle(bytes(0xe2, 0x82))],
  ['an overlong slash', withTitle(bytes(0xc0, 0xaf))],
  ['a code point past the last', withTitle(bytes(0xf4, 0x90, 0x80, 0x80))],
  ['a byte of Latin-1', withTitle(bytes(0xe9))],
  ['NUL, escaped', utf8('{"title":"\\u0000","content":"C"}')],
  ['NUL, raw', withTitle(bytes(0))],
  ['NUL behind the object', utf8('{"title":"T","content":"C"}\0')],
  ['arrays nested 200,000 deep', utf8('['.repeat(200_000) + ']'.repeat(200_000))],
  ['objects nested 150,000 deep', utf8('{"a":'.repeat(150_000) + '1' + '}'.repeat(150_000))],
  ['200,000 opening brackets', utf8('['.repeat(200_000))],
  [
    'a deep member beside a good post',
    utf8(`{"title":"T","content":"C","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`),
  ],
  ['a deep title', utf8(`{"content":"C","title":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)],
];

/** An object with this many members and array elements in all, undeclared except for the given fields. */
const withItems = (items: number, fields: object): string => {
  const rest = items - Object.keys(fields).length - 1;
  return JSON.stringify({ ...fields, rest: Array.from({ length: rest }, () => ({})) });
};

const MAX_ITEMS = 10_000;
const POST = { title: 'T', content: 'C' };
const SMALL = 64 * 1024;

describe.each(STORES)('bodies of posts on %s', (store) => {
  let api: TestApi;
  let existing: Post;
  beforeAll(async () => {
    api = await startApi(store);
    existing = await api.posts.create();
  });
  afterAll(() => api.stop());

  it.each(INVALID)('rejects %s on POST and on PATCH, and stores nothing', async (_, body) => {
    const created = await api.post('/v1/posts', body);
    const patched = await api.patch(`/v1/posts/${existing.id}`, body);

    for (const reply of [created, patched]) {
      expect(reply).toBeError('VALIDATION_ERROR');
      expect(reply.body.error).not.toHaveProperty('details');
    }
    expect(await api.posts.count()).toBe(1);
    expect(await api.posts.get(existing.id)).toEqual(existing);
  });

  it.each([
    ['no content type', undefined],
    ['text/plain', 'text/plain'],
    ['that of a form', 'application/x-www-form-urlencoded'],
    ['multipart', 'multipart/form-data; boundary=x'],
    ['XML', 'application/xml'],
    ['an empty content type', ''],
    ['an invalid content type', ';;;'],
    ['JSON with a charset', 'application/json; charset=utf-8'],
  ])('reads JSON with any content type: %s', async (_, type) => {
    const reply = await api.send({
      method: 'PATCH',
      url: `/v1/posts/${existing.id}`,
      payload: Buffer.from('{"title":"Read"}'),
      headers: type === undefined ? {} : { 'content-type': type },
    });

    expect(reply).toHaveStatus(200);
    expect(reply.body.data.title).toBe('Read');
    existing = reply.body.data;
  });

  it('rejects a missing body', async () => {
    expect(await api.send({ method: 'POST', url: '/v1/posts' })).toBeError('VALIDATION_ERROR');
    expect(await api.send({ method: 'PATCH', url: `/v1/posts/${existing.id}` })).toBeError(
      'VALIDATION_ERROR',
    );
  });

  it('accepts a body of 1 MiB, and rejects one byte more', async () => {
    const frame = '{"title":"T","content":""}';
    const body = (size: number) => frame.replace('""', `"${'c'.repeat(size - frame.length)}"`);

    const { id } = (await api.post('/v1/posts', body(1024 * 1024))).body.data;
    expect(await api.post('/v1/posts', body(1024 * 1024 + 1))).toBeError('PAYLOAD_TOO_LARGE');
    await api.delete(`/v1/posts/${id}`);
  });

  it('accepts 10,000 members and array elements in all, and rejects one more', async () => {
    const { id } = (await api.post('/v1/posts', withItems(MAX_ITEMS, POST))).body.data;
    expect(await api.patch(`/v1/posts/${id}`, withItems(MAX_ITEMS, {}))).toHaveStatus(200);
    expect(await api.post('/v1/posts', withItems(MAX_ITEMS + 1, POST))).toBeError('VALIDATION_ERROR');
    expect(await api.patch(`/v1/posts/${id}`, withItems(MAX_ITEMS + 1, {}))).toBeError('VALIDATION_ERROR');
    await api.delete(`/v1/posts/${id}`);
  });

  it('ignores undeclared fields with thousands of members', async () => {
    const many = Object.fromEntries(Array.from({ length: 4900 }, (_, n) => [`k${n}`, n]));

    const { id, title } = (await api.post('/v1/posts', { ...POST, ...many, more: many })).body.data;

    expect(title).toBe(POST.title);
    expect(await api.post('/v1/posts', { ...POST, title: many })).toBeError('VALIDATION_ERROR');
    await api.delete(`/v1/posts/${id}`);
  });

  it('keeps every character of a well-formed text', async () => {
    const content = '\u0001\t\r\n"\\/\u007f\u0085\u2028é漢字😀\uFFFD\uFFFF\u{10FFFF}e\u0301';

    const { id } = await api.posts.create({ content });

    expect((await api.posts.get(id)).content).toBe(content);
  });
});

describe.each(STORES)('bodies on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, { WRITE_ACCESS: 'open' }, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const withBody = operations.filter(({ operation }) => operation.requestBody);
  const small = withBody.filter(({ path }) => /^\/(?:auth|v1\/webhooks|v1\/orders)/.test(path));
  const others = withBody.filter((each) => !small.includes(each));

  it.each(small.map(({ method, path }) => [method, path]))(
    'over 64 KiB are too large for %s %s, with credentials or without',
    async (method, path) => {
      const url = path.replaceAll(/\{\w+\}/g, '1');
      expect(await send(api, method, url, padded(SMALL + 1))).toBeError('PAYLOAD_TOO_LARGE');
      expect(await send(api, method, url, padded(SMALL))).not.toHaveStatus(413);
    },
  );

  it.each(others.map(({ method, path }) => [method, path]))(
    'over 64 KiB are accepted by %s %s',
    async (method, path) => {
      const url = path.replaceAll(/\{\w+\}/g, '1');
      expect(await send(api, method, url, padded(SMALL + 1))).not.toHaveStatus(413);
    },
  );

  it.each([
    ['POST', '/v1/users'],
    ['POST', '/v2/users'],
    ['PATCH', '/v1/users/1'],
    ['POST', '/auth/register/'],
  ])('with more than 10,000 members and elements are unreadable for %s %s', async (method, path) => {
    expect(await send(api, method, path, withItems(MAX_ITEMS + 1, {}))).toBeError('MALFORMED_REQUEST');
  });

  it.each([
    ['POST', '/v1/webhooks/1/test', 401],
    ['POST', '/v1/webhooks/1/deliveries/1/redeliver', 401],
    ['POST', '/auth/passkeys/login/options/', 200],
    ['DELETE', '/v1/users/999', 404],
  ])('that are empty, in chunks and without a type, are none for %s %s', async (method, path, status) => {
    if (!api.app.getHttpServer().listening) await api.app.listen(0, '127.0.0.1');
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
    const query = '{ users { id } }';
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
    const reply = await send(api, 'POST', '/v1/tickets', text);
    expect(reply).toHaveStatus(201);
    expect((await api.get(reply.headers['location']!)).body.data.text.list).toHaveLength(32_001);
  });
});

const padded = (size: number): string => `{"padding":"${'x'.repeat(size - '{"padding":""}'.length)}"}`;
