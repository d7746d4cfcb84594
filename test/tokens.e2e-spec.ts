import { describe, expect, it } from '@jest/globals';
import argon2 from 'argon2';
import { bearer, PASSWORD, type Tokens } from './support/accounts.js';
import { startApi } from './support/api.js';
import { onEach } from './support/on-each.js';
import { STORES } from './support/stores.js';

const SECOND = 1000;

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

// With the full cost of passwords.
onEach('tokens', { modules: [] }, ({ api }) => {
  let email: string;
  let tokens: Tokens;
  let count = 0;

  /** Registers a new account, and logs it in. */
  async function logIn(): Promise<Tokens> {
    email = `account${++count}@example.com`;
    await api.accounts.register(email);
    return (tokens = await api.accounts.login(email));
  }

  const login = (fields: object) => api.post('/auth/login/', { email, password: PASSWORD, ...fields });
  const refresh = (token: unknown) => api.post('/auth/refresh/', { refresh: token });
  const verify = (token: unknown) => api.post('/auth/verify/', { token });
  const logout = (token: unknown) => api.post('/auth/logout/', { refresh: token });
  const me = (token: string) => api.get('/auth/me/', bearer(token));

  describe('POST /auth/login/', () => {
    it('returns tokens with the documented claims, and no others', async () => {
      const before = Math.floor(Date.now() / 1000);
      const { access, refresh: token } = await logIn();
      const { body: account } = await me(access);

      const claims = claimsOf(access);
      expect(claims).toEqual({
        token_type: 'access',
        sub: String(account.id),
        user_id: account.id,
        sid: expect.any(String),
        jti: expect.any(String),
        iat: expect.any(Number),
        exp: claims.iat + 30 * 60,
        email,
        name: 'Ada',
        role: 'user',
      });
      expect(claims.iat).toBeGreaterThanOrEqual(before);
      const { jti, iat } = claimsOf(token);
      // The two tokens may be issued in different seconds.
      expect([0, 1]).toContain(claims.iat - iat);
      expect(claimsOf(token)).toEqual({
        token_type: 'refresh',
        sub: String(account.id),
        user_id: account.id,
        sid: claims.sid,
        jti,
        iat,
        exp: iat + 7 * 24 * 3600,
      });
      expect(jti).not.toBe(claims.jti);
      expect(JSON.parse(Buffer.from(access.split('.')[0]!, 'base64url').toString())).toEqual({
        alg: 'HS256',
        typ: 'JWT',
      });
    });

    it('has the role admin for staff', async () => {
      await logIn();
      await api.accounts.admin().setStaff(email, true);

      expect(claimsOf((await api.accounts.login(email)).access).role).toBe('admin');
    });

    it('accepts the e-mail in any letter case', async () => {
      await logIn();

      const reply = await login({});
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(await login({ email: ` ${email.toUpperCase()} ` })).toHaveStatus(200);
    });

    it('returns the same error for an unknown e-mail, a wrong password and an inactive account', async () => {
      await logIn();
      const wrong = await login({ password: 'wrong password' });
      const unknown = await login({ email: 'nobody@example.com' });
      const noAddress = await login({ email: 'nobody' });
      await api.accounts.admin().setActive(email, false);
      const inactive = await login({});

      for (const reply of [wrong, unknown, noAddress, inactive]) {
        expect(reply).toBeError('UNAUTHENTICATED');
        expect(reply.text).toBe(wrong.text);
        expect({ ...reply.headers, 'x-request-id': '', date: '' }).toEqual({
          ...wrong.headers,
          'x-request-id': '',
          date: '',
        });
      }
    });

    it.each([
      ['nothing', {}, ['email', 'password']],
      ['other types', { email: {}, password: 123456 }, ['email', 'password']],
      ['NUL', { email: 'a\0@example.com', password: 'x\0' }, ['email', 'password']],
    ])('rejects %s, and names the fields', async (_, body, fields) => {
      expect(await api.post('/auth/login/', body)).toBeError('VALIDATION_ERROR', fields);
    });

    it('rehashes a password that was hashed with weaker parameters, in each Unicode form', async () => {
      await logIn();
      const [composed, decomposed] = ['a caf\u00e9 at noon', 'a cafe\u0301 at noon'];
      const weak = await argon2.hash(composed, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
      const { id } = (await me(tokens.access)).body;
      await api.rows.execute('UPDATE accounts SET password_hash = :weak WHERE id = :id', { id, weak });

      await Promise.all([api.accounts.login(email, decomposed), api.accounts.login(email, decomposed)]);

      const row = await api.rows.one<{ password_hash: string }>(
        'SELECT password_hash FROM accounts WHERE id = :id',
        { id },
      );
      expect(row!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
      for (const form of [composed, decomposed]) await api.accounts.login(email, form);
    });

    it('records the origin of each login, and no token', async () => {
      await api.accounts.register('agent@example.com');
      const agent = `Browser ${'x'.repeat(300)}`;
      const reply = await api.post(
        '/auth/login/',
        { email: 'agent@example.com', password: PASSWORD },
        { 'user-agent': agent },
      );

      const row = await api.rows.one('SELECT * FROM sessions WHERE id = :id', {
        id: claimsOf(reply.body.refresh).sid,
      });

      expect(row).toMatchObject({ kind: 'token', address: '127.0.0.1', agent: agent.slice(0, 200) });
      expect(JSON.stringify(row)).not.toContain(reply.body.refresh.split('.')[2]);
    });
  });

  describe('an access token', () => {
    it.each(['Bearer', 'bearer', 'BEARER'])('is accepted with the scheme %s', async (scheme) => {
      const { access } = await logIn();

      expect(await api.get('/auth/me/', { authorization: `${scheme} ${access}` })).toHaveStatus(200);
      expect(await api.get('/auth/me/', { authorization: ` ${scheme}   ${access} ` })).toHaveStatus(200);
    });

    it.each(['', 'Bearer', 'Bearer ', 'bearer   ', 'Basic YTpi', 'Token x', 'Bearerx y'])(
      'is missing in %j',
      async (authorization) => {
        expect(await api.get('/auth/me/', { authorization })).toBeError('UNAUTHENTICATED');
      },
    );

    it.each(['garbage', 'a b', 'a.b.c', ', '])('is invalid as Bearer %j', async (token) => {
      expect(await me(token)).toBeError('TOKEN_NOT_VALID');
    });

    it('is valid for exactly 30 minutes', async () => {
      const { access } = await logIn();
      const end = claimsOf(access).exp * 1000 - Date.now();

      api.moveClock(end - 2 * SECOND);
      expect(await me(access)).toHaveStatus(200);
      expect(await verify(access)).toHaveStatus(200);
      api.moveClock(end);
      for (const reply of [await me(access), await verify(access)]) {
        expect(reply).toBeError('TOKEN_NOT_VALID');
        expect(reply.body.error.message).toBe('The token has expired');
      }
    });

    it('may be from a clock that is a few seconds ahead', async () => {
      const { access } = await logIn();

      api.moveClock(-4 * SECOND);
      expect(await me(access)).toHaveStatus(200);
      api.moveClock(-7 * SECOND);
      expect(await me(access)).toBeError('TOKEN_NOT_VALID');
    });
  });

  describe('POST /auth/refresh/', () => {
    it('returns new tokens of the same login, once', async () => {
      const first = await logIn();

      const reply = await refresh(first.refresh);

      expect(reply).toHaveStatus(200);
      expect(Object.keys(reply.body).toSorted()).toEqual(['access', 'refresh']);
      expect(claimsOf(reply.body.refresh).sid).toBe(claimsOf(first.refresh).sid);
      expect(claimsOf(reply.body.refresh).jti).not.toBe(claimsOf(first.refresh).jti);
      expect(await me(reply.body.access)).toHaveStatus(200);
      expect(await refresh(first.refresh)).toBeError('TOKEN_NOT_VALID');
      expect(await refresh(reply.body.refresh)).toHaveStatus(200);
    });

    it('updates the claims after a change of the account', async () => {
      const { access, refresh: token } = await logIn();
      await api.patch('/auth/me/', { name: 'Countess' }, bearer(access));

      expect(claimsOf((await refresh(token)).body.access).name).toBe('Countess');
    });

    it('accepts a token for exactly 7 days', async () => {
      const { refresh: token } = await logIn();
      const end = claimsOf(token).exp * 1000 - Date.now();

      api.moveClock(end - 2 * SECOND);
      expect(await verify(token)).toHaveStatus(200);
      api.moveClock(end);
      for (const reply of [await verify(token), await refresh(token), await logout(token)]) {
        expect(reply).toBeError('TOKEN_NOT_VALID');
        expect(reply.body.error.message).toBe('The token has expired');
      }
    });

    it('rejects a deactivated account, also after its reactivation', async () => {
      const { refresh: token } = await logIn();
      const admin = api.accounts.admin();

      await admin.setActive(email, false);
      expect(await refresh(token)).toBeError('TOKEN_NOT_VALID');
      expect(await verify(token)).toBeError('TOKEN_NOT_VALID');
      await admin.setActive(email, true);
      expect(await refresh(token)).toBeError('TOKEN_NOT_VALID');
      await api.accounts.login(email);
    });

    it.each([
      ['nothing', undefined],
      ['null', null],
      ['a number', 5],
      ['a list', ['x']],
    ])('rejects %s as an invalid field, on each path', async (_, token) => {
      expect(await refresh(token)).toBeError('VALIDATION_ERROR', ['refresh']);
      expect(await logout(token)).toBeError('VALIDATION_ERROR', ['refresh']);
      expect(await verify(token)).toBeError('VALIDATION_ERROR', ['token']);
    });

    it('rejects an empty token as invalid', async () => {
      for (const reply of [await refresh(''), await logout(''), await verify('')]) {
        expect(reply).toBeError('TOKEN_NOT_VALID');
      }
    });

    it('ignores the Authorization header', async () => {
      const { refresh: token } = await logIn();

      expect(await api.post('/auth/refresh/', { refresh: token }, bearer('garbage'))).toHaveStatus(200);
    });
  });

  describe('POST /auth/verify/', () => {
    it('accepts both kinds of token, and rejects a used refresh token', async () => {
      const { access, refresh: token } = await logIn();

      expect((await verify(access)).body).toEqual({});
      expect(await verify(token)).toHaveStatus(200);
      await refresh(token);
      expect(await verify(token)).toBeError('TOKEN_NOT_VALID');
    });
  });

  describe('POST /auth/logout/', () => {
    it('ends the login, and invalidates its refresh token for all purposes', async () => {
      const { refresh: token } = await logIn();
      const other = await api.accounts.login(email);

      const reply = await logout(token);

      expect(reply).toHaveStatus(200);
      expect(reply.body).toEqual({ message: expect.any(String) });
      expect(await refresh(token)).toBeError('TOKEN_NOT_VALID');
      expect(await verify(token)).toBeError('TOKEN_NOT_VALID');
      expect(await logout(token)).toBeError('TOKEN_NOT_VALID');
      expect(await refresh(other.refresh)).toHaveStatus(200);
    });

    it('rejects an access token', async () => {
      const { access, refresh: token } = await logIn();

      expect(await logout(access)).toBeError('TOKEN_NOT_VALID');
      expect(await verify(token)).toHaveStatus(200);
    });

    it('also ends the login with a refresh token that was already exchanged', async () => {
      const { refresh: token } = await logIn();
      const { refresh: next } = (await refresh(token)).body;

      expect(await logout(token)).toHaveStatus(200);
      expect(await refresh(next)).toBeError('TOKEN_NOT_VALID');
      expect(await logout(next)).toBeError('TOKEN_NOT_VALID');
      expect(await logout(token)).toBeError('TOKEN_NOT_VALID');
    });
  });

  it('are available under /auth/ without a version', async () => {
    for (const path of ['login', 'refresh', 'verify', 'logout', 'register', 'change-password']) {
      expect(await api.post(`/v1/auth/${path}/`, {})).toBeError('NOT_FOUND');
      expect(await api.get(`/auth/${path}/`)).toBeError('METHOD_NOT_ALLOWED');
      expect((await api.post(`/auth/${path}`, {})).text).toBe((await api.post(`/auth/${path}/`, {})).text);
    }
  });
});

describe.each(STORES)('REFRESH_REUSE=revoke on %s', (store) => {
  it('ends the whole login, with all later tokens, when a used token is reused', async () => {
    const api = await startApi(store, { REFRESH_REUSE: 'revoke' });
    await api.accounts.register('ada@example.com');
    const first = await api.accounts.login('ada@example.com');
    const other = await api.accounts.login('ada@example.com');
    const refresh = (token: string) => api.post('/auth/refresh/', { refresh: token });
    const second = (await refresh(first.refresh)).body;
    const third = (await refresh(second.refresh)).body;

    expect(await refresh(first.refresh)).toBeError('TOKEN_NOT_VALID');

    expect(await refresh(third.refresh)).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/verify/', { token: third.refresh })).toBeError('TOKEN_NOT_VALID');
    expect(await refresh(other.refresh)).toHaveStatus(200);
    await api.stop();
  });

  it('only rejects the token that was exchanged last, for 10 seconds: two tabs may exchange the same one', async () => {
    const api = await startApi(store, { REFRESH_REUSE: 'revoke' });
    await api.accounts.register('ada@example.com');
    const first = await api.accounts.login('ada@example.com');
    const refresh = (token: string) => api.post('/auth/refresh/', { refresh: token });

    const replies = await Promise.all(Array.from({ length: 5 }, () => refresh(first.refresh)));
    const [exchanged, ...more] = replies.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(4);
    api.moveClock(5000);
    expect(await refresh(first.refresh)).toBeError('TOKEN_NOT_VALID');
    const second = exchanged!.body;
    expect(await api.post('/auth/verify/', { token: second.refresh })).toHaveStatus(200);

    api.moveClock(10_000);
    expect(await refresh(first.refresh)).toBeError('TOKEN_NOT_VALID');
    expect(await refresh(second.refresh)).toBeError('TOKEN_NOT_VALID');
    await api.stop();
  });
});
