import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { bearer } from './support/accounts.js';
import { type Reply, startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { shuffle } from './support/shuffle.js';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

onEach('orders', { modules: [FixtureModule] }, ({ api, store }) => {
  const order = (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    api.post('/v1/orders', body, { 'idempotency-key': randomUUID(), ...headers });
  const count = async (): Promise<number> => (await api.get('/v1/orders')).body.meta.total;

  it('are created, read and listed with their payload', async () => {
    const payload = { item: 'Book', quantity: 2, to: { name: 'Ada', lines: ['1 Road', 'Rome'] } };

    const created = await order(payload);

    expect(created).toHaveStatus(201);
    const { id } = created.body.data;
    expect(created.body).toEqual({
      data: { id, status: 'created', payload, created_at: expect.stringMatching(TIMESTAMP) },
    });
    expect(Number.isInteger(id)).toBe(true);
    expect(created.headers.location).toBe(`/v1/orders/${id}`);
    expect(created.headers['content-type']).toBe('application/json; charset=utf-8');
    expect((await api.get(`/v1/orders/${id}`)).text).toBe(created.text);
    expect((await api.get('/v1/orders?limit=1')).text).toContain(created.text.slice('{"data":'.length, -1));
    const { headers } = await api.send({ method: 'HEAD', url: `/v1/orders/${id}/` });
    expect(headers['content-length']).toBe(String(created.text.length));
  });

  it.each([
    ['numbers past a double', '{"a":1e400,"b":-1e400,"c":1152921504606846977,"d":0.10,"e":-0,"f":1E5}'],
    ['members in their order', '{"b":1,"2":2,"a":3,"1":4}'],
    ['blanks', '{ "a" : [ 1 ,\n\t2 ] }'],
    ['escapes', String.raw`{"a":"\u0041\/\\\"\ud83d\ude00","b":"\"\\/\""}`],
    ['names of methods', '{"toJSON":1,"constructor":2,"then":{"rawJSON":"x"},"length":3}'],
    ['any Unicode', '{"é e\u0301 😀 \u2028":"\u{10FFFF}"}'],
    ['1,000 levels', `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`],
    ['64 KiB', `{"a":"${'x'.repeat(64 * 1024 - 8)}"}`],
  ])('keep their payload verbatim: %s', async (_, payload) => {
    const created = await order(payload);

    expect(created).toHaveStatus(201);
    expect(created.text).toContain(`"payload":${payload},"created_at"`);
    expect((await api.get(created.headers.location!)).text).toBe(created.text);
    expect((await api.get('/v1/orders?limit=100')).text).toContain(`"payload":${payload},"created_at"`);
  });

  it.each([
    ['without a content type', {}],
    ['of type text', { 'content-type': 'text/plain' }],
    ['of a form type', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('are read as JSON from a body %s', async (_, headers) => {
    const reply = await api.send({
      method: 'POST',
      url: '/v1/orders',
      headers: { 'idempotency-key': randomUUID(), ...headers },
      payload: Buffer.from('{"a":1}'),
    });

    expect(reply.body.data.payload).toEqual({ a: 1 });
  });

  it.each([{ 'content-type': 'application/json' }, {}])('do not require a body: %j', async (headers) => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await api.send({ method: 'POST', url: '/v1/orders', headers: { ...key, ...headers } });
    const second = await order('{}', key);

    expect(first.body.data.payload).toEqual({});
    expect(second.text).toBe(first.text);
  });

  it.each([
    ['an array', '[]'],
    ['null', 'null'],
    ['text', '"a"'],
    ['a number', '1'],
    ['blanks', ' \n'],
    ['malformed JSON', '{a:1}'],
    ['a member named twice', '{"a":1,"a":2}'],
    ['__proto__', '{"__proto__":1}'],
    ['1,001 levels', `${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`],
    ['NUL', '{"a":["\\u0000"]}'],
    ['NUL in a name', '{"a":{"\\u0000":1}}'],
    ['a lone surrogate', '{"a":{"b":"\\ud800"}}'],
    ['a lone surrogate in a name', '{"\\udc00":1}'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('reject %s before any write', async (_, body) => {
    const before = await count();
    const key = { 'idempotency-key': randomUUID() };

    expect(await order(body, key)).toBeError('VALIDATION_ERROR');
    expect(await count()).toBe(before);
    // A rejected request does not use up the key.
    expect(await order({}, key)).toHaveStatus(201);
  });

  it('are limited by their size only', async () => {
    const reply = await order(`{"list":[${'1,'.repeat(32_000)}1]}`);
    expect(reply).toHaveStatus(201);
    expect((await api.get(reply.headers.location!)).body.data.payload.list).toHaveLength(32_001);
  });

  it('reject more than 64 KiB, unlike other paths', async () => {
    const large = { a: 'x'.repeat(64 * 1024 - 7) };

    expect(await order(large)).toBeError('PAYLOAD_TOO_LARGE');
    expect(await api.post('/v1/dummies', { text: large.a })).toHaveStatus(201);
  });

  it.each([
    ['abc', 'INVALID_ID'],
    ['1.0', 'INVALID_ID'],
    ['9223372036854775808', 'INVALID_ID'],
    ['0', 'NOT_FOUND'],
    ['-1', 'NOT_FOUND'],
    ['9223372036854775807', 'NOT_FOUND'],
  ] as const)('respond to the id %s with %s', async (id, code) => {
    expect(await api.get(`/v1/orders/${id}`)).toBeError(code);
  });

  it('are listed in pages, newest first', async () => {
    const own = await startApi(store);
    for (let n = 1; n <= 5; n++) await own.post('/v1/orders', { n }, { 'idempotency-key': `k${n}` });

    await shuffle(own, 'orders');
    const page = await own.get('/v1/orders?page=2&limit=2');

    expect(page.body.data.map(({ payload }: any) => payload.n)).toEqual([3, 2]);
    expect(page.body.meta).toEqual({ total: 5, page: 2, limit: 2, has_next: true });
    expect(page.headers.link).toContain('</v1/orders?page=3&limit=2>; rel="next"');
    expect((await own.get('/v1/orders?page=9223372036854775807')).body.data).toEqual([]);
    expect((await own.get('/v1/orders?page=x&limit=101')).body.meta).toMatchObject({ page: 1, limit: 20 });
    await own.stop();
  });

  it.each(['authenticated', 'staff'])('belong to accounts with WRITE_ACCESS=%s', async (access) => {
    const own = await startApi(store, { WRITE_ACCESS: access });
    const callers: Record<string, Record<string, string>> = {};
    for (const name of ['ada', 'bob', 'staff', 'other']) {
      const email = `${name}@example.com`;
      const isStaff = name === 'staff' || name === 'other';
      callers[name] = await (isStaff ? own.accounts.logInNewStaff(email) : own.accounts.logInNew(email));
    }
    const [owner, nonOwner] = access === 'staff' ? ['staff', 'ada'] : ['ada', 'bob'];
    const key = { 'idempotency-key': 'k' };

    expect(await own.post('/v1/orders', '[]', key)).toBeError('UNAUTHENTICATED');
    expect(await own.post('/v1/orders', {}, callers[owner])).toBeError('MISSING_IDEMPOTENCY_KEY');
    expect(await own.post('/v1/orders', {}, { ...callers[owner], ...key })).toHaveStatus(201);

    for (const path of ['/v1/orders', '/v1/orders/1']) {
      expect(await own.get(path)).toBeError('UNAUTHENTICATED');
      expect(await own.get(path, bearer('garbage'))).toBeError('TOKEN_NOT_VALID');
      for (const reader of [owner, 'other']) expect(await own.get(path, callers[reader])).toHaveStatus(200);
    }
    expect(await own.get('/v1/orders/1', callers[nonOwner])).toBeError('NOT_FOUND');
    const none = await own.get('/v1/orders', callers[nonOwner]);
    expect(none.body).toMatchObject({ data: [], meta: { total: 0 } });
    await own.stop();
  });

  it('are read without credentials with WRITE_ACCESS=open, which ignores them', async () => {
    const { id } = (await order({})).body.data;

    expect(await api.get(`/v1/orders/${id}`, bearer('garbage'))).toHaveStatus(200);
  });
});
