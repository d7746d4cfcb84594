import { randomUUID } from 'node:crypto';
import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply, startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { Held, OuterInterceptor, MisconfiguredModule, RepeatModule } from './support/repeat.module.js';
import { statementsOf } from './support/statements.js';

const HOUR = 60 * 60_000;

const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key });

/** Expects the same status, body bytes and headers, except for the headers of the request itself. */
function expectReplay(reply: Reply, first: Reply): void {
  expect(reply.status).toBe(first.status);
  expect(reply.text).toBe(first.text);
  const { 'x-request-id': firstId, date: _, ...headers } = first.headers;
  const { 'x-request-id': id, date: __, 'idempotent-replayed': replayed, ...same } = reply.headers;
  expect(same).toEqual(headers);
  expect(replayed).toBe('true');
  expect(firstId).not.toBe(id);
  expect(first.headers['idempotent-replayed']).toBeUndefined();
}

onEach('an Idempotency-Key', { modules: [RepeatModule] }, ({ api, store }) => {
  const create = (body: unknown, key: string, headers: object = {}): Promise<Reply> =>
    api.post('/v1/stubs', body, { ...withKey(key), ...headers });
  const stubs = async (): Promise<number> => (await api.get('/v1/stubs')).body.meta.total;
  const records = async (): Promise<number> =>
    (await api.rows.one<{ n: number }>('SELECT count(*) AS n FROM idempotency_records'))!.n;

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['blank', ' \t '],
  ])('can be required, and is rejected before the body if it is %s', async (_, key) => {
    const headers: Record<string, string> = key === undefined ? {} : withKey(key);

    expect(await api.post('/v1/stubs', '{broken', headers)).toBeError('MISSING_IDEMPOTENCY_KEY');
    expect(await api.post('/v1/stubs/', {}, headers)).toBeError('MISSING_IDEMPOTENCY_KEY');
  });

  it.each([
    ['256 characters', 'k'.repeat(256)],
    ['a blank inside', 'a b'],
    ['two keys', 'a, b'],
    ['a letter beyond ASCII', 'schlüssel'],
    ['a control character', 'a\u007fb'],
  ])('with %s is rejected before the body', async (_, key) => {
    expect(await create('{broken', key)).toBeError('INVALID_IDEMPOTENCY_KEY');
    expect(await api.post('/v1/dummies', '{broken', withKey(key))).toBeError('INVALID_IDEMPOTENCY_KEY');
  });

  it('may have 255 characters, and blanks around them', async () => {
    const key = `!~${randomUUID()}`.padEnd(255, '"');

    const first = await create({}, key);

    expect(first).toHaveStatus(201);
    expectReplay(await create({}, ` \t${key} `), first);
  });

  it.each([
    ['/v1/stubs', { a: 1 }],
    ['/v1/dummies', { text: 'T', status: 'done' }],
    ['/auth/register/', { email: 'key@example.com', name: 'Ada', password: PASSWORD }],
  ])('makes %s repeat its response without running again', async (path, body) => {
    const key = withKey();
    const first = await api.post(path, body, key);
    const again = [await api.post(path, body, key), await api.post(path, body, key)];
    const total = await totalOf(path);

    expect(first).toHaveStatus(201);
    expect(first.headers.location).toBeDefined();
    for (const reply of again) expectReplay(reply, first);
    expect(await totalOf(path)).toBe(total);
    const changed = await api.post(path, { ...body, more: 1 }, key);
    expect(changed).toBeError('IDEMPOTENCY_KEY_REUSED');
    expect(changed.headers.location).toBeUndefined();
  });

  const totalOf = async (path: string): Promise<number> => {
    const table = /\w+\/?$/.exec(path)![0].replace('register/', 'accounts');
    return (await api.rows.one<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))!.n;
  };

  it('is scoped to method, path and key, with or without the trailing slash', async () => {
    const key = withKey();
    const body = { text: 'T' };
    const first = await api.post('/v1/dummies', body, key);

    for (const path of ['/v1/repeats/governed/1', '/v1/stubs']) {
      const reply = await api.post(path, body, key);
      expect(reply).toHaveStatus(201);
      expect(reply.headers['idempotent-replayed']).toBeUndefined();
    }
    expectReplay(await api.post('/v1/dummies/?x=1', body, key), first);
    expect((await api.post('/v1/dummies', body, withKey())).text).not.toBe(first.text);
  });

  it('is ignored if it is empty and not required', async () => {
    const one = await api.post('/v1/dummies', { text: 'A' }, withKey(' '));
    const two = await api.dummies.create();

    expect(one).toHaveStatus(201);
    expect(two.id).not.toBe(one.body.data.id);
  });

  it('treats bodies as the same if they differ only in white space, order and notation', async () => {
    const key = randomUUID();
    const first = await create('{"a":1,"b":[{"x":"é","y":1e2}],"c":-0}', key);

    for (const same of [
      '{ "c" : 0 , "b":[{"y":100.0,"x":"\\u00e9"}],\n"a":1.0}',
      '{"\\u0061":1e0,"b":[{"x":"\u00e9","y":1E+2}],"c":0.0}',
    ]) {
      expectReplay(await create(same, key), first);
    }
    expect(first.body.data.text).toEqual({ a: 1, b: [{ x: 'é', y: 100 }], c: -0 });
  });

  it.each([
    ['a value', '{"a":2}'],
    ['a type', '{"a":"1"}'],
    ['one more member', '{"a":1,"b":null}'],
    ['another form of a letter', '{"a":1,"e\\u0301":1}'],
    ['an array', '[1]'],
    ['an empty body', ''],
  ])('is rejected with another body: %s', async (_, other) => {
    const key = randomUUID();
    const first = await create('{"a":1}', key);
    const before = await stubs();

    expect(await create(other, key)).toBeError('IDEMPOTENCY_KEY_REUSED');
    expect(await stubs()).toBe(before);
    expectReplay(await create('{"a":1}', key), first);
  });

  it('is scoped to the caller', async () => {
    const own = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    const callers = [];
    for (const email of ['ada@example.com', 'bob@example.com']) {
      await own.accounts.register(email);
      callers.push(bearer((await own.accounts.login(email)).access));
    }
    const [ada, bob] = callers as [Record<string, string>, Record<string, string>];
    const key = withKey();

    const first = await own.post('/v1/stubs', { of: 'Ada' }, { ...ada, ...key });
    const second = await own.post('/v1/stubs', { of: 'Bob' }, { ...bob, ...key });

    expect([first.body.data.id, second.body.data.id]).toEqual([1, 2]);
    const again = bearer((await own.accounts.login('ada@example.com')).access);
    expectReplay(await own.post('/v1/stubs', { of: 'Ada' }, { ...again, ...key }), first);
    expect(await own.post('/v1/stubs', { of: 'Ada' }, key)).toBeError('UNAUTHENTICATED');
    await own.stop();
  });

  it.each([
    ['a client error', 'refused', 'CONFLICT'],
    ['an internal error', 'broken', 'INTERNAL_ERROR'],
  ] as const)('keeps no record after %s, and rolls the writes back', async (_, how, code) => {
    const [before, recorded, key] = [await stubs(), await records(), withKey()];

    expect(await api.post(`/v1/repeats/failing/${how}`, { fail: true }, key)).toBeError(code);
    expect([await stubs(), await records()]).toEqual([before, recorded]);
    expect(await api.post(`/v1/repeats/failing/${how}`, {}, key)).toHaveStatus(201);
    expect([await stubs(), await records()]).toEqual([before + 1, recorded + 1]);
  });

  it('keeps no record of an error that the handler sends itself', async () => {
    const [before, recorded, key] = [await stubs(), await records(), withKey()];
    for (let n = 0; n < 2; n++) {
      const reply = await api.post('/v1/repeats/answering', {}, key);
      expect([reply.status, reply.headers['idempotent-replayed']]).toEqual([400, undefined]);
    }
    expect([await stubs(), await records()]).toEqual([before, recorded]);
  });

  it('is for JSON, text or nothing: a stream is an error that says so, and nothing is written', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const before = await stubs();

    expect(await api.post('/v1/repeats/streaming', {}, withKey())).toBeError('INTERNAL_ERROR');

    expect(log.mock.calls[0]![0].err.message).toContain('must respond with JSON, text or nothing');
    expect(await stubs()).toBe(before);
  });

  it.each([
    ['/v1/dummies', { text: '' }, 'VALIDATION_ERROR', { text: 'T' }],
    ['/v1/dummies', '{broken', 'MALFORMED_REQUEST', { text: 'T' }],
    [
      '/auth/register/',
      { email: 'e', name: 'A', password: PASSWORD },
      'VALIDATION_ERROR',
      { email: 'rejected@example.com', name: 'A', password: PASSWORD },
    ],
  ] as const)('is still valid after %s rejected %j', async (path, bad, code, good) => {
    const key = withKey();

    expect(await api.post(path, bad, key)).toBeError(code);
    expect(await api.post(path, good, key)).toHaveStatus(201);
  });

  it('is scoped to a path including its parameters', async () => {
    const key = withKey();
    const one = await api.post('/v1/repeats/governed/1', {}, key);
    const two = await api.post('/v1/repeats/governed/2', {}, key);

    expect([one.body.id, two.body.id]).toEqual(['1', '2']);
    expectReplay(await api.post('/v1/repeats/governed/1', {}, key), one);
  });

  it('replays large responses with their status and headers, byte for byte', async () => {
    const key = withKey();
    const first = await api.post('/v1/repeats/decorated', { size: 1_000_000 }, key);

    expect(first).toHaveStatus(202);
    expect(first.headers).toMatchObject({ vary: 'Accept', 'x-list': ['a', 'b'], location: '/somewhere' });
    expectReplay(await api.post('/v1/repeats/decorated', { size: 1_000_000 }, key), first);
  });

  it.each([
    ['text', 201],
    ['nothing', 204],
  ])('replays a response of %s', async (what, status) => {
    const key = withKey();
    const first = await api.post(`/v1/repeats/${what}`, {}, key);

    expect(first).toHaveStatus(status);
    expectReplay(await api.post(`/v1/repeats/${what}`, {}, key), first);
  });

  it('replays no header or cookie of the retry itself', async () => {
    const key = withKey();
    const first = await api.post('/v1/repeats/marked', {}, key);

    expect(first.headers['set-cookie']).toEqual([expect.stringMatching(/^visit=/), 'own=1']);
    expectReplay(await api.post('/v1/repeats/marked', {}, key), first);
  });

  it('covers a handler that does not read the body, also if nobody could', async () => {
    const [before, key] = [await stubs(), withKey()];
    const first = await api.post('/v1/repeats/three-writes', '{broken', key);

    expect(first).toHaveStatus(201);
    expectReplay(await api.post('/v1/repeats/three-writes', '{broken', key), first);
    expect(await stubs()).toBe(before + 3);
  });

  it('covers all writes of a handler, also concurrent ones', async () => {
    const before = await stubs();
    const key = withKey();
    OuterInterceptor.values = [];

    const statements = await statementsOf(() => api.post('/v1/repeats/three-writes', {}, key));

    expect(await stubs()).toBe(before + 3);
    expect(statements.filter((sql) => /^(SAVEPOINT member$|START TRANSACTION)/.test(sql))).toHaveLength(1);
    const replay = await api.post('/v1/repeats/three-writes', {}, key);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    expect(await stubs()).toBe(before + 3);
    // An outer interceptor gets the value of both.
    expect(OuterInterceptor.values).toEqual([replay.body, replay.body]);
  });

  it('adds few statements to the transaction, and a replay needs only one', async () => {
    const key = withKey();
    const post = (headers: Record<string, string>) => () => api.post('/v1/dummies', { text: 'T' }, headers);

    const plain = await statementsOf(post({}));
    // The remaining space is queried once a second, not by each request.
    const first = (await statementsOf(post(key))).filter((sql) => !sql.includes('sum(bytes)'));
    const replay = await statementsOf(post(key));

    const LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))';
    const beginning = (sql: string) => sql.split(' ').slice(0, 3).join(' ');
    // On SQLite, the transaction belongs to a group of writes, in which each has a savepoint.
    const [plainBegin, begin, end] =
      store === 'SQLite'
        ? ['SAVEPOINT member', ['SAVEPOINT member', 'SELECT id FROM'], 'RELEASE member']
        : ['START TRANSACTION', ['START TRANSACTION ISOLATION', LOCK, 'SELECT id FROM'], 'COMMIT'];
    // On SQLite, TypeORM reads what the database has generated.
    const change =
      store === 'SQLite'
        ? ['INSERT INTO "dummies"("id",', 'SELECT "Dummy"."id" AS', 'INSERT INTO events']
        : ['INSERT INTO "dummies"("account_id",', 'INSERT INTO events'];
    expect(plain.map(beginning)).toEqual([plainBegin, ...change, end]);
    expect(first.map(beginning)).toEqual([
      'SELECT fingerprint, status,',
      ...begin,
      ...change,
      'INSERT INTO idempotency_records',
      end,
    ]);
    expect(replay).toEqual([first[0]]);
  });

  it('rolls back a handler that takes over the response, which no record can contain', async () => {
    const before = [await stubs(), await records()];

    expect((await api.post('/v1/repeats/hijacked', {}, withKey())).text).toBe('mine');

    // A transaction that stayed open would block this write on SQLite.
    await api.dummies.create();
    expect([await stubs(), await records()]).toEqual(before);
  });

  it('rolls back a handler that goes on after an outer interceptor has given up', async () => {
    const [before, key] = [[await stubs(), await records()], withKey()];
    Held.current = new Held();
    const reply = api.post('/v1/repeats/abandoned', {}, key);
    await Held.current.written.promise;
    Held.current.released.resolve();

    expect(await reply).toBeError('SERVICE_UNAVAILABLE');

    // A transaction that stayed open would block this write on SQLite.
    await api.dummies.create();
    expect([await stubs(), await records()]).toEqual(before);
    expect(await api.post('/v1/repeats/held', {}, key)).toHaveStatus(201);
  });

  it('expires after 24 hours, and is purged', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const send = (payload: object) => own.post('/v1/stubs', payload, withKey('k'));
    const purge = async () => (await own.app.get(Purger).purge()).get('idempotency_records');
    const first = await send({ n: 1 });

    own.moveClock(24 * HOUR - 60_000);
    expectReplay(await send({ n: 1 }), first);
    expect(await purge()).toBe(0);

    own.moveClock(24 * HOUR);
    const second = await send({ n: 2 });
    expect(second.body.data.id).toBe(2);
    expectReplay(await send({ n: 2 }), second);

    own.moveClock(48 * HOUR);
    expect(await purge()).toBe(1);
    expect((await send({ n: 2 })).body.data.id).toBe(3);
    await own.stop();
  });

  it('keeps no password and no key in its record', async () => {
    const key = `key-${randomUUID()}`;
    const body = { email: 'secret@example.com', name: 'Ada', password: 'a very secret word' };
    await api.post('/auth/register/', body, withKey(key));

    const rows = JSON.stringify(await api.rows.all('SELECT * FROM idempotency_records'));

    expect(rows).toContain('secret@example.com');
    expect(rows).not.toContain(body.password);
    expect(rows).not.toContain(key);
  });

  it('removes the headers of a write that was rolled back', async () => {
    const own = await startApi(store, {}, [RepeatModule]);

    const reply = await own.post('/v1/repeats/unrecorded', {}, withKey());

    expect(reply).toBeError('INTERNAL_ERROR');
    expect(reply.headers.location).toBeUndefined();
    await own.stop();
  });

  it('covers a GET with settings of its own, unless they replace those of @Idempotent()', async () => {
    const key = withKey();

    const first = await api.get('/v1/repeats/configured', key);
    expect(first.body).toMatchObject({ own: 'setting' });
    expectReplay(await api.get('/v1/repeats/configured', key), first);
    await expect(startApi(store, {}, [MisconfiguredModule])).rejects.toThrow(
      '@RouteConfig() of MisconfiguredController.read replaces what the decorators below it set: move it below them',
    );
  });

  it('replays the headers set after a conflict, and none set before it', async () => {
    const [before, key] = [await stubs(), withKey()];
    const first = await api.post('/v1/repeats/colliding', {}, key);

    expect(first).toHaveStatus(201);
    expect(first.headers).toMatchObject({
      location: '/somewhere',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(first.headers).not.toHaveProperty('x-only-the');
    expect(first.headers).not.toHaveProperty('x-list');
    expectReplay(await api.post('/v1/repeats/colliding', {}, key), first);
    expect(await stubs()).toBe(before + 1);
  });

  it('survives a restart', async () => {
    let own = await startApi(store, {}, [FixtureModule]);
    const first = await own.post('/v1/stubs', { a: 1 }, withKey('k'));
    await own.restart();

    expect(first).toHaveStatus(201);
    expectReplay(await own.post('/v1/stubs', { a: 1 }, withKey('k')), first);
    await own.stop();
  });
});
