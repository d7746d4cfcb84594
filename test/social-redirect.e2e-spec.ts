import { describe, expect, it } from '@jest/globals';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { LoginCodes } from '../src/accounts/social/login-codes.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, sessionOf } from './support/accounts.js';
import { startApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { onEach } from './support/on-each.js';
import { STEP, totpCode, turnOnFactor } from './support/second-factor.js';
import { Google } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';

const PUBLIC_URL = 'https://api.example.com';
const CALLBACK = `${PUBLIC_URL}/auth/social/google/callback/`;
const FRONT_END = 'https://app.example.com/welcome?from=login';

const OPTIONS = {
  settings: { PUBLIC_URL, SOCIAL_LOGIN_REDIRECT: FRONT_END },
  servers: { google: () => new Google(CALLBACK) },
};
onEach('SOCIAL_LOGIN_REDIRECT', OPTIONS, ({ api, google, store }) => {
  const exchange = (code: unknown) => api.post('/auth/social/exchange/', { code });

  async function codeOf(login: string): Promise<string> {
    const reply = await new Visitor(api).logIn('google', google.addPerson(login));
    return new URL(reply.headers['location']!).searchParams.get('code')!;
  }

  it('redirects to the front end with a one-time code, and without tokens', async () => {
    const reply = await new Visitor(api).logIn('google', google.addPerson('front'));

    expect(reply).toHaveStatus(302);
    expect(reply.text).toBe('');
    expect(reply.headers['location']).toMatch(
      /^https:\/\/app\.example\.com\/welcome\?from=login&code=[\w-]{43}$/,
    );
    expect(reply.headers['referrer-policy']).toBe('no-referrer');
    const tokens = await exchange(new URL(reply.headers['location']!).searchParams.get('code'));
    expect(tokens).toHaveStatus(200);
    expect(tokens.headers['cache-control']).toBe('no-store');
    expect((await api.get('/auth/me/', bearer(tokens.body.access))).body.email).toBe('front@example.com');
  });

  it('redirects to no other address, whatever the browser sends', async () => {
    const visitor = new Visitor(api);
    const evil = 'https://evil.example/';
    const more = ['redirect_uri', 'next', 'redirect', 'return_to', 'callback'].map(
      (name) => `${name}=${evil}`,
    );
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      origin: evil,
      referer: evil,
    };

    const begun = await visitor.get(`/auth/social/google/?${more.join('&')}`, headers);
    const url = new URL(begun.headers['location']!);
    expect(url.origin).toBe(google.issuer);
    expect(url.searchParams.get('redirect_uri')).toBe(CALLBACK);
    expect(url.href).not.toContain('evil');
    const back = await visitor.logInAt(url.href, google.addPerson('lured'));
    const reply = await visitor.get(`${back}&${more.join('&')}`, {
      ...headers,
      cookie: visitor.cookies(PUBLIC_URL),
    });
    expect(reply.headers['location']).toMatch(/^https:\/\/app\.example\.com\/welcome\?from=login&code=/);
  });

  it('uses a code that is valid once, even for concurrent attempts', async () => {
    const once = await codeOf('once');

    const replies = await Promise.all(Array.from({ length: 8 }, () => exchange(once)));

    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      expect(reply).toBeError('INVALID_CODE');
    }
    expect(await exchange(once)).toBeError('INVALID_CODE');
  });

  it('uses a code that is valid for a minute, then purged, and stored as a hash', async () => {
    const [late, early] = [await codeOf('late'), await codeOf('early')];
    const rows = () => api.rows.all("SELECT * FROM one_time_secrets WHERE purpose = 'social-login'");
    expect(await rows()).not.toEqual([]);
    expect(JSON.stringify(await rows())).not.toContain(late);

    api.moveClock(55_000);
    expect(await exchange(early)).toHaveStatus(200);
    api.moveClock(60_000);
    expect(await exchange(late)).toBeError('INVALID_CODE');
    await api.app.get(Purger).purge();
    expect(await rows()).toEqual([]);
  });

  it('rejects the code of a deactivated account', async () => {
    const good = await codeOf('leaver');
    await api.accounts.admin().setActive('leaver@example.com', false);

    expect(await exchange(good)).toBeError('INVALID_CODE');
  });

  it('rejects the code of an account whose logins were ended', async () => {
    const { body } = await exchange(await codeOf('ended'));
    const good = await codeOf('ended');
    expect(await api.delete('/auth/sessions/', bearer(body.access))).toHaveStatus(204);

    expect(await exchange(good)).toBeError('INVALID_CODE');
  });

  it('rejects the code of a login that was in progress while the password was reset', async () => {
    await exchange(await codeOf('reset'));
    const accounts = api.app.get(AccountsService, { strict: false });
    const before = (await accounts.findByEmail('reset@example.com'))!;
    await api.accounts.setPassword('reset@example.com', 'another password');

    const code = await api.app.get(LoginCodes, { strict: false }).issue(before);

    expect(await exchange(code)).toBeError('INVALID_CODE');
  });

  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

  it('binds a code to the client that started the login, by PKCE', async () => {
    const codeWithPkce = async (login: string) => {
      const visitor = new Visitor(api);
      const { headers } = await visitor.get(
        `/auth/social/google/?code_challenge=${challenge}&code_challenge_method=S256`,
      );
      const reply = await visitor.get(await visitor.logInAt(headers['location']!, google.addPerson(login)));
      return new URL(reply.headers['location']!).searchParams.get('code')!;
    };
    const redeem = (code: string, code_verifier?: unknown) =>
      api.post('/auth/social/exchange/', { code, code_verifier });
    const code = await codeWithPkce('pkce');

    for (const wrong of [undefined, null, '', 'x', challenge, `${verifier}x`]) {
      expect(await redeem(code, wrong)).toBeError('INVALID_CODE');
    }
    expect(await redeem(code, 5)).toBeError('VALIDATION_ERROR', ['code_verifier']);
    const replies = await Promise.all(Array.from({ length: 8 }, () => redeem(code, verifier)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    // A verifier for a code without a challenge is wrong, too.
    expect(await redeem(await codeOf('plain'), verifier)).toBeError('INVALID_CODE');
    for (const query of ['code_challenge=x', `code_challenge=${challenge}&code_challenge_method=plain`]) {
      expect(await api.get(`/auth/social/google/?${query}`)).toBeError('MALFORMED_REQUEST');
    }
  });

  it('requires a challenge where an app of another owner could receive the code', async () => {
    await api.restart({
      social: { ...api.config.social, redirect: 'com.example.app:/welcome' },
    });
    expect(await api.get('/auth/social/google/')).toBeError('MALFORMED_REQUEST');
    expect(await api.get(`/auth/social/google/?code_challenge=${challenge}`)).toHaveStatus(302);
    await api.restart({ social: { ...api.config.social, redirect: FRONT_END } });
  });

  it('redirects with an mfa_token, and no code, if the account has a second factor', async () => {
    const secret = await withFactor('twostep');
    const reply = await new Visitor(api).logIn('google', 'twostep');
    const { searchParams } = new URL(reply.headers['location']!);
    expect([...searchParams.keys()]).toEqual(['from', 'mfa_token']);
    const code = totpCode(secret, STEP);
    const step = { mfa_token: searchParams.get('mfa_token'), code };
    expect((await api.post('/auth/login/', step)).body).toHaveProperty('access');
  });

  it('binds that mfa_token to the client that started the login, too', async () => {
    const secret = await withFactor('bound');
    const visitor = new Visitor(api);
    const begun = await visitor.get(`/auth/social/google/?code_challenge=${challenge}`);
    const reply = await visitor.get(await visitor.logInAt(begun.headers['location']!, 'bound'));
    const mfa_token = new URL(reply.headers['location']!).searchParams.get('mfa_token');
    const code = totpCode(secret, STEP);

    for (const wrong of [undefined, null, '', challenge, `${verifier}x`, verifier.slice(1)]) {
      for (const path of ['/auth/login/', '/auth/session/'])
        expect(await api.post(path, { mfa_token, code, code_verifier: wrong })).toBeError('INVALID_CODE');
    }
    // None of these has counted as a wrong code.
    const complete = { mfa_token, code, code_verifier: verifier };
    expect((await api.post('/auth/login/', complete)).body).toHaveProperty('access');
  });

  it('is not completed by a HEAD of the callback', async () => {
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('google'), google.addPerson('checked'));
    const { pathname, search } = new URL(callback);
    const url = pathname + search;
    const head = await api.send({ method: 'HEAD', url, headers: { cookie: visitor.cookies(PUBLIC_URL) } });
    expect(head.status).toBeLessThan(400);
    expect(head.headers['set-cookie']).toBeUndefined();
    expect(head.headers['location']).toBeUndefined();
    expect(await api.app.get(AccountsService).findByEmail('checked@example.com')).toBeNull();

    expect((await visitor.get(callback)).headers['location']).toContain('code=');
  });

  async function withFactor(login: string) {
    const { body } = await exchange(await codeOf(login));
    return (await turnOnFactor(api, bearer(body.access))).secret;
  }

  describe('?return=account', () => {
    const arrive = async (login: string, query = `?return=account&code_challenge=${challenge}`) => {
      const visitor = new Visitor(api);
      const begun = await visitor.get(`/auth/social/google/${query}`);
      return visitor.get(await visitor.logInAt(begun.headers['location']!, login));
    };
    const open = (social_code: unknown, code_verifier: unknown = verifier) =>
      api.post('/auth/session/', { social_code, code_verifier });

    it('ends at the account page of the service, whose one-time code opens a session', async () => {
      const reply = await arrive(google.addPerson('page'));
      expect(reply).toHaveStatus(302);
      const location = new URL(reply.headers['location']!);
      expect(location.origin + location.pathname).toBe(`${PUBLIC_URL}/account/`);
      const code = location.searchParams.get('code')!;
      for (const wrong of [undefined, null, '', challenge, `${verifier}x`])
        expect(await api.post('/auth/session/', { social_code: code, code_verifier: wrong })).toBeError(
          'INVALID_CODE',
        );

      const session = await open(code);
      expect(session).toHaveStatus(200);
      expect(session.body).toEqual({
        account: expect.objectContaining({ email: 'page@example.com' }),
        csrf_token: expect.any(String),
      });
      expect(await api.get('/auth/session/', sessionOf(session).cookie)).toHaveStatus(200);
      expect(await open(code)).toBeError('INVALID_CODE');
    });

    it('needs a challenge, and other values are ignored', async () => {
      expect(await api.get('/auth/social/google/?return=account')).toBeError('MALFORMED_REQUEST');
      for (const value of ['', 'home', 'https://evil.example/', 'account/'])
        expect(
          (await arrive(google.addPerson('elsewhere'), `?return=${encodeURIComponent(value)}`)).headers[
            'location'
          ],
        ).toMatch(/^https:\/\/app\.example\.com\/welcome\?/);
    });

    it('opens no session for a code without a challenge', async () => {
      const code = await codeOf('unbound');
      expect(await api.post('/auth/session/', { social_code: code })).toBeError('INVALID_CODE');
      expect(await open(code)).toBeError('INVALID_CODE');
      expect(await exchange(code)).toHaveStatus(200);
      for (const none of [null, 5]) expect(await open(none)).toBeError('VALIDATION_ERROR', ['social_code']);
    });

    it('brings a browser to the account page with the code of an error, and gives others the error', async () => {
      await api.accounts.register('waiting@example.com');
      google.addPerson('waiting');
      const visitor = new Visitor(api);
      const fail = async (headers: Record<string, string>) => {
        const begun = await visitor.get(`/auth/social/google/?return=account&code_challenge=${challenge}`);
        return visitor.get(await visitor.logInAt(begun.headers['location']!, 'waiting'), headers);
      };

      const page = await fail({ accept: 'text/html,*/*;q=0.8' });
      expect(page).toHaveStatus(302);
      expect(page.headers['location']).toBe(`${PUBLIC_URL}/account/?error=CONFLICT`);
      expect(await fail({})).toBeError('CONFLICT');
      expect(await fail({ accept: 'application/json' })).toBeError('CONFLICT');
    });

    it('is where a browser returns with every failure of a login that began there', async () => {
      const accept = 'text/html,*/*;q=0.8';
      const begin = `/auth/social/google/?return=account&code_challenge=${challenge}`;
      const failedWith = (code: string) => `${PUBLIC_URL}/account/?error=${code}`;
      const locationOf = async (on: Visitor, path: string, headers = {}) => {
        const reply = await on.get(path, { accept, ...headers });
        return [reply.status, reply.headers['location']];
      };
      google.addPerson('returning');
      const visitor = new Visitor(api);
      const comeBack = async () =>
        visitor.logInAt((await visitor.get(begin)).headers['location']!, 'returning');

      // Without its cookie, too late, and a second time.
      const elsewhere = await comeBack();
      expect(await locationOf(new Visitor(api), elsewhere)).toEqual([302, failedWith('MALFORMED_REQUEST')]);
      const late = await comeBack();
      api.advanceClock(601_000);
      expect(await locationOf(visitor, late)).toEqual([302, failedWith('MALFORMED_REQUEST')]);
      const twice = await comeBack();
      const cookie = visitor.cookies(PUBLIC_URL);
      expect((await locationOf(visitor, twice))[1]).toContain('/account/?code=');
      expect(await locationOf(visitor, twice, { cookie })).toEqual([302, failedWith('MALFORMED_REQUEST')]);
      // The database fails.
      const last = await comeBack();
      await api.accounts.removeTable();
      expect(await locationOf(visitor, last)).toEqual([302, failedWith('SERVICE_UNAVAILABLE')]);
      await api.rows.execute('ALTER TABLE gone RENAME TO accounts');
      // The provider does not respond, before a person gets there.
      const GOOGLE_ISSUER = `http://localhost:${await freePort()}`;
      const alone = await startApi(store, { ...google.settings, PUBLIC_URL, GOOGLE_ISSUER });
      const refused = await alone.get(begin, { accept });
      expect([refused.status, refused.headers['location']]).toEqual([302, failedWith('SERVICE_UNAVAILABLE')]);
      expect(refused.headers).not.toHaveProperty('set-cookie');
      expect(await alone.get(begin)).toBeError('SERVICE_UNAVAILABLE');
      expect(await alone.get('/auth/social/google/', { accept })).toBeError('SERVICE_UNAVAILABLE');
      await alone.stop();
    });

    it.each([
      ['unknown', 'NOT_FOUND', 404],
      ['github', 'SERVICE_UNAVAILABLE', 503],
    ] as const)(
      'is where a browser returns from a provider that is not here: %s',
      async (provider, code, status) => {
        const accept = 'text/html,*/*;q=0.8';
        const callback = `/auth/social/${provider}/callback/?code=x&state=${'x'.repeat(43)}`;

        const page = await api.get(`${callback}.account`, { accept });
        expect([page.status, page.headers['location']]).toEqual([
          302,
          `${PUBLIC_URL}/account/?error=${code}`,
        ]);
        expect(await api.get(`${callback}.account`)).toBeError(code);
        expect(await api.get(callback, { accept })).toBeError(code);
        const head = { method: 'HEAD', url: `${callback}.account`, headers: { accept } } as const;
        expect(await api.send(head)).toHaveStatus(status);
      },
    );

    it('carries an mfa_token instead, if the account has a second factor', async () => {
      const secret = await withFactor('pagestep');
      const { searchParams } = new URL((await arrive('pagestep')).headers['location']!);
      const code = totpCode(secret, STEP);
      const step = { mfa_token: searchParams.get('mfa_token'), code };
      expect(await api.post('/auth/session/', step)).toBeError('INVALID_CODE');
      expect(await api.post('/auth/session/', { ...step, code_verifier: verifier })).toHaveStatus(200);
    });
  });

  it('rejects any other code', async () => {
    for (const none of ['', 'x', '\u{1F511}', 'x'.repeat(60_000)]) {
      expect(await exchange(none)).toBeError('INVALID_CODE');
    }
    for (const none of [undefined, null, 5, ['x'], 'a\0']) {
      expect(await exchange(none)).toBeError('VALIDATION_ERROR', ['code']);
    }
  });
});
