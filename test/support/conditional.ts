import { expect, it } from '@jest/globals';
import type { Reply, TestApi } from './api.js';
import { patiently, times } from './concurrent.js';

export const tagOf = ({ headers }: Reply): string => headers['etag']!;

type Method = 'PATCH' | 'PUT' | 'DELETE';

/** A change of any resource that tests have: unknown fields are ignored. */
const VALID = { name: 'New', title: 'New', text: 'New' };
const INVALID = { name: 5, title: 5, text: 5 };

export const sendIfMatch = (
  api: TestApi,
  method: Method,
  url: string,
  ifMatch: string,
  body: unknown = VALID,
): Promise<Reply> =>
  api.send({
    method,
    url,
    headers: { 'if-match': ifMatch, ...(method !== 'DELETE' && { 'content-type': 'application/json' }) },
    ...(method !== 'DELETE' && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

const success = (method: Method) => (method === 'DELETE' ? 204 : 200);

/** Tests of the entity tags of a resource. @param make creates one, and returns its path */
export function testEntityTags(api: () => TestApi, make: () => Promise<string>): void {
  it('are strong and stable, and allow clients to cache', async () => {
    const path = await make();
    const first = await api().get(path);

    expect(tagOf(first)).toMatch(/^"[\x21\x23-\x7e]+"$/);
    expect(first.headers['cache-control']).toBe('no-cache');
    const again = await api().get(path);
    expect(tagOf(again)).toBe(tagOf(first));
    const head = await api().send({ method: 'HEAD', url: path });
    expect(head.headers).toMatchObject({
      etag: tagOf(first),
      'content-length': first.headers['content-length'],
    });
  });

  it.each([
    ['the tag', (tag: string) => tag],
    ['the weak form of the tag', (tag: string) => `W/${tag}`],
    ['a list', (tag: string) => `"a,b" ,, W/"c",${tag}`],
    ['*', () => '*'],
  ])('return 304 without a body for %s', async (__, header) => {
    const path = await make();
    const first = await api().get(path);
    const tag = tagOf(first);
    for (const method of ['GET', 'HEAD'] as const) {
      const reply = await api().send({ method, url: path, headers: { 'if-none-match': header(tag) } });

      expect(reply).toHaveStatus(304);
      expect(reply.text).toBe('');
      expect(reply.headers).toMatchObject({ etag: tag, 'cache-control': 'no-cache' });
      expect(reply.headers).not.toHaveProperty('content-type');
      // For HEAD, it is the length of the 200 response (RFC 9110, section 8.6).
      const length = method === 'HEAD' ? first.headers['content-length'] : undefined;
      expect(reply.headers['content-length']).toBe(length);
    }
  });

  it.each(['"other"', 'W/"other"', '', ' ', ',', 'abc', '"unclosed', '"a" "b"', '*, "a"', 'w/"a"', "'a'"])(
    'return 200 for %j',
    async (header) => {
      const path = await make();
      expect(await api().get(path, { 'if-none-match': header })).toHaveStatus(200);
    },
  );
}

/** Tests of a change of a resource with `If-Match`. @param absent the path of a resource that does not exist */
export function testIfMatch(
  api: () => TestApi,
  method: Method,
  make: () => Promise<string>,
  absent: string,
): void {
  it('accepts the current tag, alone or in a list', async () => {
    for (const list of [(tag: string) => tag, (tag: string) => `"a", ${tag} , W/"b"`, () => '*']) {
      const path = await make();
      expect(await sendIfMatch(api(), method, path, list(tagOf(await api().get(path))))).toHaveStatus(
        success(method),
      );
    }
  });

  it('rejects an outdated, a weak or an unknown tag, and changes nothing', async () => {
    const path = await make();
    const old = tagOf(await api().get(path));
    await api().patch(path, {});
    const before = await api().get(path);

    for (const header of [old, '"x"', `W/${tagOf(before)}`, `W/${tagOf(before)}, ${old}`]) {
      const reply = await sendIfMatch(api(), method, path, header);
      expect(reply).toBeError('PRECONDITION_FAILED');
      expect(reply.headers).not.toHaveProperty('etag');
    }
    const after = await api().get(path);
    expect([after.body, tagOf(after)]).toEqual([before.body, tagOf(before)]);
  });

  it('says that a proxy has made a tag weak', async () => {
    const path = await make();
    const weak = `W/${tagOf(await api().get(path))}`;

    const reply = await sendIfMatch(api(), method, path, weak);
    expect(reply).toBeError('PRECONDITION_FAILED');
    expect(reply.body.error.message).toMatch(/weak tag .* A proxy that compresses .* the guide “HTTP”/);
    // The tag is not outdated: reading it again would not help.
    expect(reply.body.error.message).not.toContain('read it again');
    expect((await sendIfMatch(api(), method, path, '"x"')).body.error.message).toContain('read it again');
  });

  it.each(['', ' ', ',', 'x', '"unclosed', '*, "a"', '"a" "b"'])(
    'rejects the header %j before it checks the body',
    async (header) => {
      const path = await make();

      for (const body of [[], '{', INVALID]) {
        expect(await sendIfMatch(api(), method, path, header, body)).toBeError('MALFORMED_REQUEST');
      }
      expect(await sendIfMatch(api(), method, path.replace(/\d+$/, 'abc'), header, [])).toBeError(
        'INVALID_ID',
      );
      expect(await api().get(path)).toHaveStatus(200);
    },
  );

  it('is checked after the body and after existence', async () => {
    expect(await sendIfMatch(api(), method, absent, '"x"')).toBeError('NOT_FOUND');
    expect(await sendIfMatch(api(), method, absent, '*')).toBeError('NOT_FOUND');
    if (method === 'DELETE') return;
    const reply = await sendIfMatch(api(), method, await make(), '"x"', INVALID);
    expect(reply).toBeError('VALIDATION_ERROR');
  });

  it('accepts exactly one of 100 concurrent changes with one tag', async () => {
    const path = await make();
    const tag = tagOf(await api().get(path));

    const replies = await times(100, () => patiently(() => sendIfMatch(api(), method, path, tag)));

    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === success(method))).toHaveLength(1);
    const others = statuses.filter((status) => status !== success(method));
    // A late DELETE finds no resource.
    expect(others.every((status) => status === 412 || (method === 'DELETE' && status === 404))).toBe(true);
  });
}
