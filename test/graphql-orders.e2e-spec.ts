import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Reply, startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { recordedEvents } from './support/recorded-changes.js';
import { statementsOf } from './support/statements.js';
import { STORES } from './support/stores.js';

const CREATE = `mutation ($key: String!, $payload: JSON) {
  createOrder(idempotencyKey: $key, payload: $payload) { id status payload createdAt }
}`;

const DAY = 24 * 60 * 60_000;

type Headers = Record<string, string>;

const create = async (api: TestApi, key: string, payload?: unknown, headers: Headers = {}): Promise<any> =>
  (await api.graphql(CREATE, { key, payload }, headers)).body;

const createOverRest = (api: TestApi, key: string, payload: unknown, headers: Headers = {}): Promise<Reply> =>
  api.post('/v1/orders', payload, { 'idempotency-key': key, ...headers });

describe.each(STORES)('orders over GraphQL on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, {}, [FixtureModule]);
  });
  afterAll(() => api.stop());

  const order = (key: string, payload?: unknown) => create(api, key, payload);
  const count = async (): Promise<number> => (await api.get('/v1/orders')).body.meta.total;
  const errorOf = ({ errors }: any) => ({ code: errors[0].extensions.code, message: errors[0].message });

  it('may be counted by each of 30 aliases in one operation', async () => {
    const aliases = Array.from({ length: 30 }, (_, n) => `a${n}: orders(first: 1) { totalCount }`);
    const { data, errors } = (await api.graphql(`{ ${aliases.join(' ')} }`)).body;
    expect(errors).toBeUndefined();
    expect(new Set(Object.values<any>(data).map(({ totalCount }) => totalCount)).size).toBe(1);
  });

  it('are created, and are the orders of REST', async () => {
    const payload = { item: 'Book', quantity: 2, lines: ['1 Road', null, true, { a: 1.5 }] };
    const { createOrder } = (await order(randomUUID(), payload)).data;

    const { data } = (await api.get(`/v1/orders/${createOrder.id}`)).body;
    expect(data.payload).toEqual(payload);
    const expected = { id: String(data.id), status: 'created', payload, createdAt: data.created_at };
    expect(createOrder).toEqual(expected);
    const { body } = await api.graphql(
      `{ order(id: ${data.id}) { id status payload createdAt } orders(first: 1) { nodes { id status payload createdAt } } }`,
    );
    expect(body.data).toEqual({ order: expected, orders: { nodes: [expected] } });
  });

  it('show a payload exactly as it was sent over REST', async () => {
    const payload =
      '{"2": "/", "1":\t"","a":1e400,"b":-1e400,"c":1152921504606846977,"d":0.10,"e":[12345678901234567890]}';
    const { id } = (await createOverRest(api, randomUUID(), payload)).body.data;

    expect((await api.graphql(`{ order(id: ${id}) { payload } }`)).text).toContain(`"payload":${payload}`);
  });

  it('show at most 16 MiB of payloads and other texts in one response', async () => {
    const filler = 'x'.repeat(64 * 1024 - '{"x":""}'.length);
    for (let n = 0; n < 10; n++) await createOverRest(api, randomUUID(), { x: filler });
    const sample = await api.samples.create({ text: 'x'.repeat(900_000) });
    const orders = (aliases: number, more = '') => {
      const payloads = Array.from({ length: aliases }, (_, n) => `p${n}: payload`).join(' ');
      return api.graphql(`{ orders(first: 10) { nodes { ${payloads} } } ${more} }`);
    };

    const { body } = await orders(25);
    expect(body.errors).toBeUndefined();
    expect(body.data.orders.nodes).toHaveLength(10);
    expect(body.data.orders.nodes[9].p24).toEqual({ x: filler });
    for (const reply of [await orders(26), await orders(25, `sample(id: ${sample.id}) { text }`)]) {
      expect(errorOf(reply.body)).toEqual({
        code: 'QUERY_TOO_COMPLEX',
        message: expect.stringContaining('16777216'),
      });
    }
  });

  it('load payloads only if they are selected, in one statement', async () => {
    const orders = (field: string) => api.graphql(`{ orders(first: 10) { nodes { ${field} } } }`);

    expect(await statementsOf(() => orders('id'))).toHaveLength(1);
    expect(await statementsOf(() => orders('payload'))).toHaveLength(2);
  });

  it.each([
    ['single orders', '{ a: order(id: 1) { id } b: order(id: 2) { id } }'],
    ['a page of orders', '{ orders(first: 10) { nodes { id } } }'],
  ])('are loaded in one statement: %s', async (_, query) => {
    expect(await statementsOf(() => api.graphql(query))).toHaveLength(1);
  });

  it.each([
    ['a page', 'orders(first: 9) { nodes { id } }', 1 + 9],
    ['a total', 'orders(first: 1) { totalCount }', 501],
  ])('cost what their longest page may have: %s', async (_, selection, objects) => {
    const reply = await api.graphql(`{ ${selection} }`, {}, { 'graphql-cost': '1' });
    expect(reply.body.extensions).toEqual({ cost: { objects, limit: 20_000 } });
  });

  it.each(['999999', '0', 'abc', '', '9'.repeat(30)])('are null for the id %j', async (id) => {
    expect((await api.graphql('query ($id: ID!) { order(id: $id) { id } }', { id })).body).toEqual({
      data: { order: null },
    });
  });

  it('are listed newest first, once each, while new ones come', async () => {
    for (let n = 0; n < 5; n++) await order(randomUUID(), { n });
    const before = (await api.get('/v1/orders?limit=100')).body.data.map(({ id }: { id: number }) =>
      String(id),
    );
    const seen: string[] = [];
    let after: string | null = null;
    for (;;) {
      const { data }: any = (
        await api.graphql(
          `query ($after: String) {
             orders(first: 2, after: $after) { totalCount edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor } }
           }`,
          { after },
        )
      ).body;
      const { edges, pageInfo, totalCount } = data.orders;
      expect(totalCount).toBe(before.length + seen.length / 2);
      expect(pageInfo.hasPreviousPage).toBe(after !== null);
      seen.push(...edges.map(({ node }: any) => node.id));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
      await order(randomUUID());
    }
    expect(seen).toEqual(before);
    expect((await api.graphql('{ orders(first: 0) { nodes { id } } }')).body.data.orders.nodes.length).toBe(
      Math.min(20, await count()),
    );
    const { endCursor } = (await api.graphql('{ posts { pageInfo { endCursor } } }')).body.data.posts
      .pageInfo;
    for (const bad of ['x', 'W10', btoa('1'), endCursor].filter(Boolean))
      expect(errorOf((await api.graphql(`{ orders(after: "${bad}") { totalCount } }`)).body).code).toBe(
        'BAD_USER_INPUT',
      );
  });

  describe('payload', () => {
    it.each([
      ['absent', undefined, {}],
      ['null', null, {}],
      ['empty', {}, {}],
      ['with names of methods', { toJSON: 1, constructor: 2, rawJSON: { valueOf: 'x' } }, undefined],
      ['of exactly 64 KiB', { a: 'x'.repeat(64 * 1024 - 8) }, undefined],
      ['with 32,000 elements', { list: Array.from({ length: 32_000 }, () => 1) }, undefined],
    ])('may be %s', async (_, payload, expected) => {
      const { data, errors } = await order(randomUUID(), payload);
      expect(errors).toBeUndefined();
      expect(data.createOrder.payload).toEqual(expected ?? payload);
    });

    it('may be a literal with variables', async () => {
      const { body } = await api.graphql(
        `mutation ($key: String!, $n: Int, $rest: JSON) {
           createOrder(idempotencyKey: $key, payload: { a: [1, -2.5, "x", true, null], n: $n, rest: $rest }) { payload }
         }`,
        { key: randomUUID(), n: 3, rest: { b: [4] } },
      );
      expect(body.data.createOrder.payload).toEqual({
        a: [1, -2.5, 'x', true, null],
        n: 3,
        rest: { b: [4] },
      });
    });

    it.each([
      ['a text', 'x'],
      ['a number', 5],
      ['a list', [{}]],
      ['a boolean', false],
      ['more than 64 KiB', { a: 'x'.repeat(64 * 1024 - 7) }],
      ['more than 64 KiB in UTF-8', { a: 'é'.repeat(33_000) }],
      ['NUL', { a: ['\0'] }],
      ['a lone surrogate as a name', { '\ud800': 1 }],
    ])('must not be or have %s', async (_, payload) => {
      const before = await count();
      const { data, errors } = await order(randomUUID(), payload);

      expect(data).toBeNull();
      expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', details: [{ field: 'payload' }] });
      expect(await count()).toBe(before);
    });

    it('must not have numbers beyond those of a double', async () => {
      const body = `{"query": ${JSON.stringify(CREATE)}, "variables": {"key": "${randomUUID()}", "payload": {"a": [1e400]}}}`;
      const { errors } = (await api.post('/graphql', body)).body;
      expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', details: [{ field: 'payload' }] });
    });

    it.each(['{ __proto__: 1 }', '{ a: [{ __proto__: {} }] }', '{ a: WORD }', '{ a: 1, a: 2 }'])(
      'must not be the literal %s',
      async (payload) => {
        const { data, errors } = (
          await api.graphql(`mutation { createOrder(idempotencyKey: "k", payload: ${payload}) { id } }`)
        ).body;
        expect(data).toBeUndefined();
        expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
      },
    );

    it.each(['{"__proto__": 1}', '{"a": {"__proto__": {}}}', '{"a": 1, "a": 2}'])(
      'must not be the variable %s',
      async (payload) => {
        const reply = await api.post(
          '/graphql',
          `{"query": ${JSON.stringify(CREATE)}, "variables": {"key": "k", "payload": ${payload}}}`,
        );
        expect(reply.body.data).toBeUndefined();
        expect(reply.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      },
    );

    it('does not count for the members of a body, and everything else does', async () => {
      const list = (length: number) => Array.from({ length }, () => ({}));
      const send = (payload: object, extra: object) =>
        api.post('/graphql', { query: CREATE, variables: { key: randomUUID(), payload, ...extra } });

      expect(await send({ list: list(20_000) }, { rest: list(9_900) })).toHaveStatus(200);
      for (const [payload, extra] of [
        [{ list: list(10_100) }, { rest: list(10_200) }],
        [{ list: list(60_000) }, {}],
      ] as const) {
        const reply = await send(payload, extra);
        expect(reply).toHaveStatus(400);
        expect(reply.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      }
    });
  });

  describe('idempotencyKey', () => {
    it.each(['', ' ', '\t'])('must not be blank: %j', async (key) => {
      expect(errorOf(await order(key))).toMatchObject({ code: 'BAD_USER_INPUT' });
    });

    it.each(['é', 'a b', 'a\nb', 'x'.repeat(256), '\0'])('must be visible ASCII: %j', async (key) => {
      expect(errorOf(await order(key)).code).toBe('BAD_USER_INPUT');
    });

    it('gives the same order again, whatever the order of members', async () => {
      const key = randomUUID();
      const before = await count();
      const first = await order(key, { a: 1, b: [2, { c: 3, d: 4 }] });
      const again = await order(` ${key} `, { b: [2, { d: 4, c: 3 }], a: 1 });

      expect(again).toEqual(first);
      expect(await count()).toBe(before + 1);
    });

    it('cannot be used with another payload', async () => {
      const key = randomUUID();
      await order(key, { a: 1 });
      const { errors } = await order(key, { a: 2 });

      expect(errors[0]).toMatchObject({
        message: 'The Idempotency-Key was already used with another body',
        extensions: { code: 'BAD_USER_INPUT' },
      });
      expect(await createOverRest(api, key, { a: 3 })).toBeError('IDEMPOTENCY_KEY_REUSED');
    });

    it('stays unused after a refusal', async () => {
      const key = randomUUID();
      expect((await order(key, [])).data).toBeNull();
      expect((await order(key, { a: 1 })).errors).toBeUndefined();
    });

    it('is free again after 24 hours', async () => {
      const key = randomUUID();
      const first = await order(key, { a: 1 });
      api.moveClock(DAY + 1000);
      const second = await order(key, { a: 2 });
      api.moveClock(0);

      expect(Number(second.data.createOrder.id)).toBe(Number(first.data.createOrder.id) + 1);
    });

    it('used over REST gives the order of REST', async () => {
      const key = randomUUID();
      const { body } = await createOverRest(api, key, '{ "b": [1.0], "a": "x" }');
      const { data } = await order(key, { a: 'x', b: [1] });

      expect(data.createOrder).toEqual({
        id: String(body.data.id),
        status: 'created',
        payload: body.data.payload,
        createdAt: body.data.created_at,
      });
      expect(errorOf(await order(key, { a: 'y' })).code).toBe('BAD_USER_INPUT');
    });

    it('used over GraphQL gives the response that REST would have sent', async () => {
      const payload = { a: 'x', b: [1, 1.5, null] };
      const key = randomUUID();
      const { id } = (await order(key, payload)).data.createOrder;
      const replayed = await createOverRest(api, key, payload);
      const fresh = await createOverRest(api, randomUUID(), payload);

      expect(replayed).toHaveStatus(201);
      expect(replayed.headers['idempotent-replayed']).toBe('true');
      expect(replayed.text).toBe(JSON.stringify({ data: (await api.get(`/v1/orders/${id}`)).body.data }));
      expect(comparable(replayed)).toEqual(comparable(fresh));
      expect(replayed.headers).toMatchObject({
        location: `/v1/orders/${id}`,
        etag: (await api.get(`/v1/orders/${id}`)).headers['etag'],
      });
    });

    it('makes one order of many concurrent requests over both APIs', async () => {
      for (let round = 0; round < 5; round++) {
        const key = randomUUID();
        const before = await count();
        const results = await Promise.all(
          Array.from({ length: 20 }, async (_, n) => {
            if (n % 2 === round % 2) {
              const { status, body } = await createOverRest(api, key, { round });
              return status === 201 ? String(body.data.id) : body.error.code;
            }
            const { data, errors } = await order(key, { round });
            if (!errors) return data.createOrder.id;
            expect(errors[0]).toMatchObject({
              message: 'A request with this Idempotency-Key is still in progress',
              extensions: { code: 'CONFLICT' },
            });
            return 'IDEMPOTENCY_KEY_IN_USE';
          }),
        );

        const ids = new Set(results.filter((result) => result !== 'IDEMPOTENCY_KEY_IN_USE'));
        expect(ids.size).toBe(1);
        expect(await count()).toBe(before + 1);
        expect((await order(key, { round })).data.createOrder.id).toBe([...ids][0]);
      }
    });

    it('makes two orders of two keys in one operation, and one of the same key twice', async () => {
      const [a, b] = [randomUUID(), randomUUID()];
      const field = (alias: string, key: string) => `${alias}: createOrder(idempotencyKey: "${key}") { id }`;
      const { data } = (await api.graphql(`mutation { ${field('x', a)} ${field('y', b)} ${field('z', a)} }`))
        .body;

      expect(data.x.id).not.toBe(data.y.id);
      expect(data.z.id).toBe(data.x.id);
    });
  });

  it('have the event of REST, one for each order', async () => {
    const key = randomUUID();
    const { id } = (await order(key, { event: [1] })).data.createOrder;
    await order(key, { event: [1] });
    await createOverRest(api, key, { event: [1] });

    const events = await recordedEvents(api, 'order.created');
    const own = events.filter(({ subject }: any) => subject === `/v1/orders/${id}`);
    expect(own).toHaveLength(1);
    expect(own[0].data).toEqual((await api.get(`/v1/orders/${id}`)).body.data);
  });

  it('belong to nobody in open mode, with credentials too', async () => {
    const headers = await api.accounts.logInNew('open@example.com');
    const key = randomUUID();
    const { id } = (await create(api, key, { a: 1 }, headers)).data.createOrder;

    expect((await create(api, key, { a: 1 })).data.createOrder.id).toBe(id);
    expect((await createOverRest(api, key, { a: 1 }, headers)).body.data.id).toBe(Number(id));
    const query = `{ me { email } order(id: ${id}) { id } orders { totalCount } }`;
    const { data } = (await api.graphql(query, {}, headers)).body;
    expect(data).toEqual({
      me: { email: 'open@example.com' },
      order: { id },
      orders: { totalCount: await count() },
    });
  });
});

/** The status and the headers of a response, without those of one request or one order. */
function comparable({ status, headers }: Reply): object {
  const own = new Set(['x-request-id', 'date', 'idempotent-replayed', 'location', 'etag', 'content-length']);
  return { status, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name))) };
}

describe.each(STORES)('orders over GraphQL by WRITE_ACCESS on %s', (store) => {
  it('=authenticated belong to the account that created them, with its own keys', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'authenticated' });
    const ada = await api.accounts.logInNew('ada@example.com');
    const bob = await api.accounts.logInNew('bob@example.com');
    const staff = await api.accounts.logInNewStaff();
    const key = randomUUID();
    const [{ id: adas }, { id: bobs }] = [
      (await create(api, key, { of: 'ada' }, ada)).data.createOrder,
      (await create(api, key, { of: 'bob' }, bob)).data.createOrder,
    ];
    const seen = async (headers: Headers) =>
      (
        await api.graphql(
          `{ a: order(id: ${adas}) { id } b: order(id: ${bobs}) { id } orders { totalCount nodes { id } } }`,
          {},
          headers,
        )
      ).body.data;

    expect(adas).not.toBe(bobs);
    expect(await seen(ada)).toEqual({
      a: { id: adas },
      b: null,
      orders: { totalCount: 1, nodes: [{ id: adas }] },
    });
    expect(await seen(bob)).toEqual({
      a: null,
      b: { id: bobs },
      orders: { totalCount: 1, nodes: [{ id: bobs }] },
    });
    expect(await seen(staff)).toEqual({
      a: { id: adas },
      b: { id: bobs },
      orders: { totalCount: 2, nodes: [{ id: bobs }, { id: adas }] },
    });
    for (const query of [
      '{ order(id: 1) { id } }',
      '{ orders { totalCount } }',
      '{ orders(after: "x") { totalCount } }',
    ])
      expect((await api.graphql(query)).body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    const { errors } = await create(api, '', []);
    expect(errors[0].extensions.code).toBe('UNAUTHENTICATED');

    const replayed = await createOverRest(api, key, { of: 'ada' }, ada);
    expect(replayed.body.data.id).toBe(Number(adas));
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    const fresh = await createOverRest(api, randomUUID(), { of: 'ada' }, ada);
    expect(comparable(replayed)).toEqual(comparable(fresh));
    await api.stop();
  });

  it('=staff are created by staff only, and read by their owner', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'staff' });
    const user = await api.accounts.logInNew('user@example.com');
    const staff = await api.accounts.logInNewStaff();

    expect((await create(api, 'k', {}, user)).errors[0].extensions.code).toBe('FORBIDDEN');
    expect((await create(api, 'k', {})).errors[0].extensions.code).toBe('UNAUTHENTICATED');
    const { id } = (await create(api, 'k', {}, staff)).data.createOrder;
    const read = `{ order(id: ${id}) { id } }`;
    expect((await api.graphql(read, {}, staff)).body.data.order).toEqual({ id });
    expect((await api.graphql(read, {}, user)).body.data.order).toBeNull();
    await api.stop();
  });

  it('are in the audit log once for each order', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'authenticated' });
    const user = await api.accounts.logInNew('user@example.com');
    const { id } = (await create(api, 'k', { a: 1 }, user)).data.createOrder;
    await create(api, 'k', { a: 1 }, user);
    await createOverRest(api, 'k', { a: 1 }, user);
    await create(api, 'k', { a: 2 }, user);
    await createOverRest(api, 'rest', { a: 1 }, user);
    await create(api, 'rest', { a: 1 }, user);
    const staff = await api.accounts.logInNewStaff();

    const { data } = (await api.get('/v1/audit?limit=100', staff)).body;
    const orders = data.filter(({ action }: any) => /order/i.test(action));
    expect(orders.map(({ action, subject }: any) => [action, subject])).toEqual([
      ['POST /v1/orders', `/v1/orders/${Number(id) + 1}`],
      ['mutation createOrder', `/v1/orders/${id}`],
    ]);
    await api.stop();
  });
});
