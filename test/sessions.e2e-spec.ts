import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Session as StoredSession } from '../src/accounts/session.entity.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD, type Session, sessionOf } from './support/accounts.js';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE } from './support/stores.js';
import { until } from './support/until.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly secret_hash: string;
  readonly agent: string;
  readonly last_used_at: string;
  readonly expires_at: string;
}

onEach('sessions', { modules: [FixtureModule] }, ({ api, store }) => {
  let email: string;
  let session: Session;
  let count = 0;

  /** Registers a new account, and logs it in. */
  async function logIn(): Promise<Session> {
    email = `account${++count}@example.com`;
    await api.accounts.register(email);
    return (session = await api.accounts.session(email));
  }

  const show = (headers: Record<string, string>, on = api) => on.get('/auth/session/', headers);
  const logOut = (headers: Record<string, string>, on = api) => on.delete('/auth/session/', headers);
  const idOf = ({ cookie: { cookie } }: Session) => cookie.split(/[=.]/)[1]!;
  const rowOf = (of: Session) => api.rows.one<Row>('SELECT * FROM sessions WHERE id = :id', { id: idOf(of) });

  describe('POST /auth/session/', () => {
    it('returns the account and a CSRF token, with the credential only in the cookie', async () => {
      await logIn();
      const reply = await api.post('/auth/session/', { email: email.toUpperCase(), password: PASSWORD });

      expect(reply).toHaveStatus(200);
      expect(reply.body).toEqual({
        account: expect.objectContaining({ email, is_active: true }),
        csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      });
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(reply.headers['set-cookie']).toMatch(
        /^session=[\da-f-]{36}\.[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/,
      );
      expect((await show(sessionOf(reply).cookie)).body).toEqual(reply.body);
    });

    it('stores only a hash, which is not accepted in place of the secret', async () => {
      await logIn();
      const row = await rowOf(session);
      const [, secret] = session.cookie.cookie.split('.');

      expect(row).toMatchObject({ kind: 'cookie', secret_hash: expect.stringMatching(/^[\w-]{43}$/) });
      expect(JSON.stringify(row)).not.toContain(secret);
      expect(await show({ cookie: `session=${row!.id}.${row!.secret_hash}` })).toBeError('UNAUTHENTICATED');
    });

    it('creates a session with a new id, and ends the previous one of the browser', async () => {
      const before = await logIn();

      const reply = await api.post('/auth/session/', { email, password: PASSWORD }, before.cookie);

      const after = sessionOf(reply);
      expect(idOf(after)).not.toBe(idOf(before));
      expect(after.headers['x-csrf-token']).not.toBe(before.headers['x-csrf-token']);
      expect(await show(before.cookie)).toBeError('UNAUTHENTICATED');
      expect(await show(after.cookie)).toHaveStatus(200);
    });

    it('ignores any session id from the client, and keeps the session of that id', async () => {
      const chosen = `session=${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}.${'x'.repeat(43)}`;
      const known = `session=${idOf(await logIn())}.${'x'.repeat(43)}`;

      for (const cookie of [chosen, known, 'session=', 'session=mine', 'session=%00', 'session', '=']) {
        const reply = await api.post('/auth/session/', { email, password: PASSWORD }, { cookie });
        expect(reply).toHaveStatus(200);
        expect(sessionOf(reply).cookie.cookie).not.toBe(cookie);
        expect(await show({ cookie })).toBeError('UNAUTHENTICATED');
      }
      expect(await show(session.cookie)).toHaveStatus(200);
    });

    it('keeps the session of the browser when the login fails', async () => {
      await logIn();

      const reply = await api.post('/auth/session/', { email, password: 'wrong' }, session.cookie);

      expect(reply).toBeError('UNAUTHENTICATED');
      expect(reply.headers).not.toHaveProperty('set-cookie');
      expect(await show(session.cookie)).toHaveStatus(200);
    });

    it('returns the same errors as a login for tokens', async () => {
      await logIn();
      const attempts = [
        [{ email, password: 'wrong password' }, 'UNAUTHENTICATED'],
        [{ email: 'nobody@example.com', password: PASSWORD }, 'UNAUTHENTICATED'],
        [{ email }, 'VALIDATION_ERROR'],
        [{ email: 5, password: {} }, 'VALIDATION_ERROR'],
        [{}, 'VALIDATION_ERROR'],
      ] as const;
      for (const [body, code] of attempts) {
        const reply = await api.post('/auth/session/', body);
        expect(reply).toBeError(code);
        expect(reply.text).toBe((await api.post('/auth/login/', body)).text);
      }
      await api.accounts.admin().setActive(email, false);
      expect(await api.post('/auth/session/', { email, password: PASSWORD })).toBeError('UNAUTHENTICATED');
    });

    it('counts failures together with those of logins for tokens', async () => {
      await logIn();
      const fail = (path: string) => api.post(path, { email, password: 'wrong' });
      await Promise.all(Array.from({ length: 10 }, () => fail('/auth/login/')));
      await Promise.all(Array.from({ length: 10 }, () => fail('/auth/session/')));

      for (const path of ['/auth/session/', '/auth/login/']) {
        expect(await api.post(path, { email, password: PASSWORD })).toBeError('RATE_LIMITED');
      }
    });
  });

  describe('GET /auth/session/', () => {
    it('requires the exact cookie', async () => {
      await logIn();
      const [, id, secret] = /=(.+)\.(.+)/.exec(session.cookie.cookie)!;

      const cookies = [
        '',
        'session=',
        `session=${id}`,
        `session=${id}.`,
        `session=${id}.${secret}x`,
        `session=${id}.${secret!.slice(1)}x`,
        `session=${secret}.${id}`,
        `other=${id}.${secret}`,
        `__Host-session=${id}.${secret}`,
      ];
      for (const cookie of cookies) expect(await show({ cookie })).toBeError('UNAUTHENTICATED');
      expect(await show({})).toBeError('UNAUTHENTICATED');
      expect(await show({ cookie: `a=b; ${session.cookie.cookie}; c=d` })).toHaveStatus(200);
      expect(await api.send({ method: 'HEAD', url: '/auth/session', headers: session.cookie })).toHaveStatus(
        200,
      );
    });
  });

  describe('DELETE /auth/session/', () => {
    it('ends the session at once, and clears the cookie', async () => {
      await logIn();
      const other = await api.accounts.session(email);

      const reply = await logOut(session.headers);

      expect(reply).toHaveStatus(204);
      expect(reply.text).toBe('');
      expect(reply.headers['set-cookie']).toBe('session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
      expect(await show(session.cookie)).toBeError('UNAUTHENTICATED');
      expect(await show(other.cookie)).toHaveStatus(200);
    });

    it('keeps the cookie of a session that could not be ended', async () => {
      await logIn();
      await api.rows.execute('ALTER TABLE audit_entries RENAME TO gone');
      const reply = await logOut(session.headers);
      await api.rows.execute('ALTER TABLE gone RENAME TO audit_entries');

      expect(reply).toBeError('SERVICE_UNAVAILABLE');
      expect(reply.headers).not.toHaveProperty('set-cookie');
      expect(await show(session.cookie)).toHaveStatus(200);
    });

    it('rejects a session that has ended', async () => {
      await logIn();
      await logOut(session.headers);

      expect(await logOut(session.headers)).toBeError('UNAUTHENTICATED');
    });

    it('ends the session for several concurrent requests', async () => {
      await logIn();

      const replies = await Promise.all(Array.from({ length: 8 }, () => logOut(session.headers)));

      for (const { status } of replies) expect([204, 401]).toContain(status);
      expect(replies.map(({ status }) => status)).toContain(204);
      expect(await rowOf(session)).toBeUndefined();
    });
  });

  describe('a session', () => {
    it('returns the current state of the account', async () => {
      await logIn();
      await api.accounts.admin().verifyEmail(email);

      expect((await show(session.cookie)).body.account).toMatchObject({ is_email_verified: true });
      expect((await api.get('/auth/me/', session.cookie)).body.is_email_verified).toBe(true);
    });

    it('expires exactly 14 days after its last use', async () => {
      await logIn();
      const login = Date.parse((await rowOf(session))!.last_used_at) - Date.now();

      for (const days of [13, 26, 39]) {
        api.moveClock(login + days * DAY);
        const before = (await rowOf(session))!.last_used_at;
        expect(await show(session.cookie)).toHaveStatus(200);
        await until(
          'the use of the session is recorded',
          async () => (await rowOf(session))!.last_used_at > before,
        );
      }
      const { expires_at, last_used_at } = (await rowOf(session))!;
      expect(Date.parse(expires_at) - Date.parse(last_used_at)).toBe(14 * DAY);
      api.moveClock(Date.parse(expires_at) - Date.now() - 2000);
      const early = await api.send({ method: 'GET', url: '/v1/dummies', headers: session.cookie });
      expect(early).toHaveStatus(200);
      api.moveClock(Date.parse(expires_at) - Date.now());
      expect(await show(session.cookie)).toBeError('UNAUTHENTICATED');
    });

    it('is updated at most once a minute', async () => {
      await logIn();
      const first = (await rowOf(session))!;
      const opened = Date.parse(first.last_used_at) - Date.now();

      api.moveClock(opened + MINUTE - 5000);
      await show({ ...session.cookie, 'user-agent': 'Later' });
      expect(await rowOf(session)).toEqual(first);
      api.moveClock(opened + MINUTE + 5000);
      await show({ ...session.cookie, 'user-agent': 'Later' });
      await until(
        'the agent of the session is recorded',
        async () => (await rowOf(session))!.agent === 'Later',
      );
      expect(await rowOf(session)).toMatchObject({
        last_used_at: expect.laterThan(first.last_used_at),
        expires_at: expect.laterThan(first.expires_at),
      });
    });

    it('can be read while the database is locked for writes', async () => {
      await logIn();
      const { last_used_at } = (await rowOf(session))!;
      const runner = api.app.get(DataSource).createQueryRunner();
      await runner.startTransaction();
      await runner.manager.update(StoredSession, { id: idOf(session) }, { address: 'locked' });

      api.moveClock(2 * MINUTE);
      expect(await show(session.cookie)).toHaveStatus(200);

      await runner.rollbackTransaction();
      await runner.release();
      await until(
        'the use of the session is recorded',
        async () => (await rowOf(session))!.last_used_at > last_used_at,
      );
    });

    it('is purged after it has expired, and not before', async () => {
      await logIn();
      api.moveClock(13 * DAY);
      await api.app.get(Purger).purge();
      expect(await rowOf(session)).toBeDefined();

      api.moveClock(15 * DAY);
      await api.app.get(Purger).purge();
      expect(await rowOf(session)).toBeUndefined();
    });

    it('ends with the deactivation of the account, for good', async () => {
      await logIn();
      const admin = api.accounts.admin();

      await admin.setActive(email, false);
      expect(await show(session.cookie)).toBeError('UNAUTHENTICATED');
      await admin.setActive(email, true);
      expect(await show(session.cookie)).toBeError('UNAUTHENTICATED');
    });

    it('ends after a change of password by another login, but not by itself', async () => {
      await logIn();
      const other = await api.accounts.session(email);
      const tokens = await api.accounts.login(email);
      const change = (old_password: string, new_password: string, headers: Record<string, string>) =>
        api.post('/auth/change-password/', { old_password, new_password }, headers);

      expect(await change(PASSWORD, 'second password', session.headers)).toHaveStatus(200);
      expect(await show(session.cookie)).toHaveStatus(200);
      expect(await show(other.cookie)).toBeError('UNAUTHENTICATED');
      expect(await api.post('/auth/refresh/', { refresh: tokens.refresh })).toBeError('TOKEN_NOT_VALID');

      const later = await api.accounts.login(email, 'second password');
      expect(await change('second password', 'third password', bearer(later.access))).toHaveStatus(200);
      expect(await show(session.cookie)).toBeError('UNAUTHENTICATED');
    });

    it('is not opened with the old password during a change of password', async () => {
      await logIn();
      const change = (n: number) =>
        api.post(
          '/auth/change-password/',
          { old_password: n === 0 ? PASSWORD : `password ${n}`, new_password: `password ${n + 1}` },
          session.headers,
        );

      for (let n = 0; n < 3; n++) {
        const password = n === 0 ? PASSWORD : `password ${n}`;
        const [changed, opened] = await Promise.all([
          change(n),
          api.post('/auth/session/', { email, password }),
        ]);
        expect(changed).toHaveStatus(200);
        expect([200, 401]).toContain(opened.status);
        const cookie = opened.status === 200 ? sessionOf(opened).cookie : {};
        expect(await show(cookie)).toBeError('UNAUTHENTICATED');
      }
    });
  });

  it('responds with 503 when the table of accounts is lost', async () => {
    const broken = await startApi(store);
    await broken.accounts.register('ada@example.com');
    const { cookie } = await broken.accounts.session('ada@example.com');
    await broken.accounts.removeTable();

    expect(await show(cookie, broken)).toBeError('SERVICE_UNAVAILABLE');
    await broken.stop();
  });
});

describe('sessions on two replicas', () => {
  it('are shared', async () => {
    const api = await startApi('PostgreSQL', { JWT_SECRET: 'aj'.repeat(16) });
    const replica = await api.replica();
    await api.accounts.register('ada@example.com');
    const { cookie, headers } = await api.accounts.session('ada@example.com');

    expect(await replica.get('/auth/session/', cookie)).toHaveStatus(200);
    expect(await replica.delete('/auth/session/', headers)).toHaveStatus(204);
    expect(await api.get('/auth/session/', cookie)).toBeError('UNAUTHENTICATED');
    await replica.stop();
    await api.stop();
  });
});

describe('the cookie in production', () => {
  it('requires HTTPS, and cannot be set by another host of the domain', async () => {
    const api = await startApi(ANY_STORE, {
      NODE_ENV: 'production',
      WRITE_ACCESS: 'open',
      JWT_SECRET: 'aj'.repeat(16),
    });
    const password = 'analytical engine 1843';
    await api.accounts.register('ada@example.com', { password });

    const reply = await api.post('/auth/session/', { email: 'ada@example.com', password });
    const { cookie, headers } = sessionOf(reply);

    expect(reply.headers['set-cookie']).toMatch(
      /^__Host-session=[\w.-]+; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await api.get('/auth/session/', cookie)).toHaveStatus(200);
    const tossed = cookie.cookie.replace('__Host-', '');
    expect(await api.get('/auth/session/', { cookie: tossed })).toBeError('UNAUTHENTICATED');
    const cleared = await api.delete('/auth/session/', headers);
    expect(cleared.headers['set-cookie']).toMatch(/^__Host-session=; Max-Age=0; Path=\/; HttpOnly; Secure/);
    await api.stop();
  });
});
