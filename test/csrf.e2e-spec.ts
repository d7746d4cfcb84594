import { beforeAll, describe, expect, it } from '@jest/globals';
import { AccessModule } from './support/access.module.js';
import { bearer, type Session } from './support/accounts.js';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';

const OPTIONS = { settings: { WRITE_ACCESS: 'authenticated' }, modules: [AccessModule, FixtureModule] };
onEach('a request with a session cookie', OPTIONS, ({ api, store }) => {
  let id: number;
  let session: Session;
  let other: Session;
  let access: string;
  beforeAll(async () => {
    ({ id } = await api.accounts.register('ada@example.com'));
    await api.accounts.register('eve@example.com');
    session = await api.accounts.session('ada@example.com');
    other = await api.accounts.session('eve@example.com');
    ({ access } = await api.accounts.login('eve@example.com'));
  });

  const wrongTokens = (): [string, Record<string, string>][] => [
    ['no token', {}],
    ['an empty token', { 'x-csrf-token': '' }],
    ['an invented token', { 'x-csrf-token': 'x'.repeat(43) }],
    ['the token of another session', { 'x-csrf-token': other.headers['x-csrf-token'] }],
    ['the token with an appended character', { 'x-csrf-token': `${session.headers['x-csrf-token']}x` }],
    ['the id of the session', { 'x-csrf-token': session.cookie.cookie.split(/[=.]/)[1]! }],
  ];

  it('is rejected if it is unsafe and has no valid CSRF token, and changes nothing', async () => {
    const before = await api.get('/auth/me/', session.cookie);
    for (const [, token] of wrongTokens()) {
      const headers = { ...session.cookie, ...token };
      expect(await api.put('/auth/me/', { name: 'Eve' }, headers)).toBeError('CSRF_FAILED');
      expect(await api.patch('/auth/me/', '{broken', headers)).toBeError('CSRF_FAILED');
      expect(await api.post('/v1/dummies', { text: 'T' }, headers)).toBeError('CSRF_FAILED');
      expect(await api.delete('/v1/dummies/1', headers)).toBeError('CSRF_FAILED');
      expect(await api.delete('/auth/session/', headers)).toBeError('CSRF_FAILED');
      expect(await api.post('/auth/change-password/', {}, headers)).toBeError('CSRF_FAILED');
    }
    expect((await api.get('/auth/me/', session.cookie)).text).toBe(before.text);
    expect(await api.dummies.count()).toBe(0);
  });

  it('needs no CSRF token where credentials are ignored', async () => {
    const login = { email: 'nobody@example.com', password: 'x' };
    expect(await api.post('/auth/login/', login, session.cookie)).toBeError('UNAUTHENTICATED');
    const open = await startApi(store, {}, [FixtureModule]);
    const reply = await open.post('/v1/dummies', { text: 'T' }, session.cookie);
    expect(reply).toHaveStatus(201);
    await open.stop();
  });

  it('uses the bearer token if there is one, and then needs no CSRF token', async () => {
    const headers = { ...session.cookie, ...bearer(access) };

    expect((await api.get('/v1/access/default', headers)).body.id).not.toBe(id);
    expect((await api.put('/auth/me/', { name: 'Eve' }, headers)).body).toMatchObject({
      email: 'eve@example.com',
    });
    for (const bad of [bearer('garbage'), bearer(session.cookie.cookie)]) {
      expect(await api.get('/auth/me/', { ...session.headers, ...bad })).toBeError('TOKEN_NOT_VALID');
    }
    const blank = { ...session.cookie, authorization: 'Bearer ' };
    expect((await api.get('/v1/access/default', blank)).body).toEqual({ id });
  });

  it('is anonymous if the cookie is invalid', async () => {
    for (const cookie of ['session=garbage', `${session.cookie.cookie}x`, '__Host-session=x.y']) {
      expect(await api.get('/v1/dummies', { cookie })).toHaveStatus(200);
      expect(await api.get('/auth/me/', { cookie })).toBeError('UNAUTHENTICATED');
      expect(await api.post('/v1/dummies', {}, { cookie })).toBeError('UNAUTHENTICATED');
      expect((await api.graphql('{ forEveryone }', {}, { cookie })).body).toEqual({
        data: { forEveryone: null },
      });
    }
  });

  describe('over GraphQL', () => {
    it('is rejected without the CSRF token, both for queries and for mutations', async () => {
      const before = await api.dummies.count();
      const mutation = 'mutation { createDummy(input: { text: "A" }) { text } }';
      for (const [, token] of wrongTokens()) {
        for (const query of ['{ forEveryone }', mutation]) {
          const reply = await api.graphql(query, {}, { ...session.cookie, ...token });
          expect(reply).toHaveStatus(403);
          expect(reply.body).toEqual({
            errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'FORBIDDEN' }) })],
          });
        }
      }
      expect(await api.dummies.count()).toBe(before);
    });

    it('uses the account of the session, or that of a bearer token if there is one', async () => {
      const { data } = (await api.graphql('{ forEveryone forAccounts }', {}, session.headers)).body;
      expect(data).toEqual({ forEveryone: id, forAccounts: id });

      const headers = { ...session.cookie, ...bearer(access) };
      const reply = await api.graphql('{ forAccounts }', {}, headers);
      expect(reply).toHaveStatus(200);
      expect(reply.body.data.forAccounts).not.toBe(id);
    });
  });
});
