import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startApi, type TestApi } from './support/api.js';
import { ANY_STORE } from './support/stores.js';
import { FixtureModule } from './support/fixture.module.js';
import { ProbeModule } from './support/probe.module.js';
import { operations, ownOperations } from './support/reference.js';

describe('the body of a route other than posts', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [ProbeModule]);
  });
  afterAll(() => api.stop());

  const send = (payload: string | undefined, type?: string) =>
    api.send({
      method: 'POST',
      url: '/v1/probes',
      ...(payload !== undefined && { payload: Buffer.from(payload) }),
      headers: type === undefined ? {} : { 'content-type': type },
    });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
  ])('is read as %s', async (type) => {
    const reply = await send('{"name":"Ada","phone":null,"role":"admin","constructor":1}', type);

    expect(reply).toHaveStatus(201);
    expect(reply.body).toEqual({ name: 'Ada', phone: null });
  });

  it.each(['application/jsonp', 'text/json', 'nonsense'])('is rejected as %s', async (type) => {
    expect(await send('{"name":"Ada"}', type)).toBeError('UNSUPPORTED_MEDIA_TYPE');
    expect(await send('name=Ada', type)).toBeError('UNSUPPORTED_MEDIA_TYPE');
  });

  it.each([
    ['no body', undefined, undefined],
    ['an empty body', '', 'application/json'],
    ['an array', '[{"name":"Ada"}]', 'application/json'],
    ['null', 'null', 'application/json'],
    ['a string', '"Ada"', 'application/json'],
  ])('is rejected with the missing fields if it is %s', async (_, body, type) => {
    const reply = await send(body, type);

    expect(reply).toBeError('VALIDATION_ERROR', ['name']);
    expect(reply.body.error.details).toEqual([{ field: 'name', message: 'name must be a string' }]);
  });

  it('is rejected with a detail for each invalid field', async () => {
    const reply = await send(JSON.stringify({ name: '', phone: '0'.repeat(21) }), 'application/json');

    expect(reply).toBeError('VALIDATION_ERROR', ['name', 'phone']);
    expect(reply.body.error.message).toBe('name must not be empty; phone must be at most 20 characters long');
  });
});

describe('a member that is named as one of the class of the input', () => {
  const MEMBERS = ['offset=5', 'isDeep=1', 'afterId=3', 'of=1', 'constructor=1', 'toString=1', '__proto__=1'];
  let api: TestApi;
  let staff: Record<string, string>;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule, ProbeModule]);
    staff = await api.accounts.logInNewStaff();
  });
  afterAll(() => api.stop());

  const isTeams = (path: string) =>
    operations.some((each) => each.path === path) && !ownOperations.some((each) => each.path === path);

  it.each([
    '/v1/dummies',
    '/v1/stubs',
    ...operations
      .filter(({ method, path }) => method === 'GET' && !/\{|stream$/.test(path))
      .map(({ path }) => path),
  ])('is ignored in the query of GET %s', async (path) => {
    // What only some may read in a module of a team may differ each time.
    const caller = isTeams(path) ? {} : staff;
    const { status, body } = await api.get(path, caller);
    expect(status).toBeLessThan(500);
    for (const member of MEMBERS) {
      const reply = await api.get(`${path}?${member}`, caller);
      // A handler may have a limit of its own.
      const expected = reply.status === 429 ? await api.get(path, caller) : { status, body };
      expect([member, reply.status, reply.body]).toEqual([member, expected.status, expected.body]);
    }
  });

  it('is ignored in a body', async () => {
    const reply = await api.post('/v1/probes', { name: 'Ada', initials: 'X', constructor: 1, toString: 2 });
    expect(reply).toHaveStatus(201);
    expect(reply.body).toEqual({ name: 'Ada' });
  });
});

describe('a page that a handler returns without paged()', () => {
  it('is an error, because its Link would be missing', async () => {
    const api = await startApi(ANY_STORE, {}, [ProbeModule]);

    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

    expect(await api.get('/v1/probes')).toBeError('INTERNAL_ERROR');
    const [{ err }] = log.mock.calls[0]!;
    expect(err.message).toContain('Return paged(reply, page)');
    log.mockRestore();
    await api.stop();
  });
});
