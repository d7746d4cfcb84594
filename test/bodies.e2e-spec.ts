import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Post, startApi, type TestApi } from './support/api.js';
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

  it('keeps every character of a well-formed text', async () => {
    const content = '\u0001\t\r\n"\\/\u007f\u0085\u2028é漢字😀\uFFFD\uFFFF\u{10FFFF}e\u0301';

    const { id } = await api.posts.create({ content });

    expect((await api.posts.get(id)).content).toBe(content);
  });
});
