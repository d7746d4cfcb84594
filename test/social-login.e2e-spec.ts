import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { LoginCodes } from '../src/auth/social/login-codes.js';
import { SocialAccounts } from '../src/auth/social/social-accounts.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD, type Reply, sessionOf, startApi, type TestApi } from './support/api.js';
import { GitHub } from './support/social/github.js';
import { Google } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';
import { STORES } from './support/stores.js';

const PUBLIC_URL = 'https://api.example.com';
const CALLBACK = `${PUBLIC_URL}/auth/social/google/callback/`;
const FRONT_END = 'https://app.example.com/welcome?from=login';

let google: Google;
let github: GitHub;
beforeAll(async () => {
  google = await Google.start(CALLBACK);
  github = await GitHub.start();
});
afterAll(() => Promise.all([google.stop(), github.stop()]));

const start = (store: 'SQLite' | 'PostgreSQL', more: Record<string, string> = {}) =>
  startApi(store, { ...google.settings, ...github.settings, PUBLIC_URL, ...more });

/** Adds a person to Google, with their own e-mail address. */
function person(login: string, more: object = {}): string {
  google.people[login] = {
    email: `${login}@example.com`,
    email_verified: true,
    name: 'Ada Lovelace',
    ...more,
  };
  return login;
}

const atGitHub = (id: number, email: string, { verified = true, name = null as string | null } = {}) => {
  github.person = { id, login: `octo${id}`, name, emails: [{ email, primary: true, verified }] };
};

describe.each(STORES)('social login on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await start(store);
  });
  afterEach(() => api.moveClock(0));
  afterAll(() => api.stop());

  const me = async ({ body }: Reply) => (await api.get('/auth/me/', bearer(body.access))).body;
  const count = async (table: string) =>
    (await api.rows.one<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))!.n;
  const verifyEmail = (email: string) =>
    api.rows.execute('UPDATE accounts SET is_email_verified = TRUE WHERE email = :email', { email });
  const logIn = (provider: string, login?: string) => new Visitor(api).logIn(provider, login);

  it('lists the configured providers', async () => {
    expect((await api.get('/auth/social/')).body).toEqual({
      data: [
        { name: 'google', url: '/auth/social/google/' },
        { name: 'github', url: '/auth/social/github/' },
      ],
    });
  });

  it('starts at the provider with new PKCE, state and nonce values each time', async () => {
    const [first, second] = [await api.get('/auth/social/google/'), await api.get('/auth/social/google')];

    expect(first).toHaveStatus(302);
    expect(first.headers['cache-control']).toBe('no-store');
    expect(first.headers['set-cookie']).toMatch(
      /^social-login=[\w-]{22}\.\d+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const [url, other] = [new URL(first.headers['location']!), new URL(second.headers['location']!)];
    expect(url.origin + url.pathname).toBe(`${google.issuer}/auth`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: google.clientId,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(url.searchParams.get(name)).not.toBe(other.searchParams.get(name));
    }
    expect(url.searchParams.get('state')).not.toBe(url.searchParams.get('nonce'));
  });

  it('creates an account for a new person at Google, and finds it again by the subject', async () => {
    person('new');
    const first = await logIn('google', 'new');

    expect(first).toHaveStatus(200);
    expect(first.headers['cache-control']).toBe('no-store');
    expect(first.body).toEqual({ access: expect.any(String), refresh: expect.any(String) });
    const account = await me(first);
    expect(account).toMatchObject({
      email: 'new@example.com',
      name: 'Ada Lovelace',
      phone: '',
      role: 'user',
      is_active: true,
      is_email_verified: true,
    });
    person('new', { email: 'moved@example.com', email_verified: false, name: 'Another' });
    expect(await me(await logIn('google', 'new'))).toEqual(account);
    expect(await api.post('/auth/refresh/', { refresh: first.body.refresh })).toHaveStatus(200);
  });

  it('creates an account for a new person at GitHub, and finds it again', async () => {
    atGitHub(100, 'octo100@example.com', { name: 'The Octocat' });
    const account = await me(await logIn('github'));

    expect(account).toMatchObject({
      email: 'octo100@example.com',
      name: 'The Octocat',
      is_email_verified: true,
    });
    atGitHub(100, 'elsewhere@example.com');
    expect(await me(await logIn('github'))).toEqual(account);
    atGitHub(101, 'octo101@example.com');
    expect(await me(await logIn('github'))).toMatchObject({ name: 'octo101' });
  });

  it('uses the primary e-mail of GitHub', async () => {
    atGitHub(110, 'primary@example.com');
    github.person = {
      ...github.person,
      emails: [{ email: 'first@example.com', primary: false, verified: true }, ...github.person.emails],
    };

    expect(await me(await logIn('github'))).toMatchObject({ email: 'primary@example.com' });
  });

  it('uses one account for both providers, if each has verified the e-mail', async () => {
    person('both');
    atGitHub(120, 'BOTH@example.com');
    const account = await me(await logIn('google', 'both'));
    const accounts = await count('accounts');

    expect(await me(await logIn('github'))).toEqual(account);
    expect(await count('accounts')).toBe(accounts);
  });

  it('uses the account with a password, if both sides have verified its e-mail', async () => {
    const { id } = await api.accounts.register('Owner@example.com');
    await verifyEmail('Owner@example.com');

    expect((await me(await logIn('google', person('owner')))).id).toBe(id);
    await api.accounts.login('owner@example.com');
  });

  it.each([
    ['we have not verified', true, false],
    ['the provider has not verified', false, true],
    ['neither has verified', false, false],
  ])('rejects the e-mail of an account that %s, and links nothing', async (what, theirs, ours) => {
    const login = `taken-${what.split(' ')[0]}`;
    await api.accounts.register(`${login}@example.com`);
    if (ours) await verifyEmail(`${login}@example.com`);
    person(login, { email_verified: theirs });
    const [accounts, identities] = [await count('accounts'), await count('social_identities')];

    expect(await logIn('google', login)).toBeError('CONFLICT');
    atGitHub(200 + Number(theirs) * 2 + Number(ours), `${login}@example.com`, { verified: theirs });
    expect(await logIn('github')).toBeError('CONFLICT');

    expect([await count('accounts'), await count('social_identities')]).toEqual([accounts, identities]);
    await api.accounts.login(`${login}@example.com`);
  });

  it.each([
    ['no e-mail', { email: undefined }],
    ['an invalid e-mail', { email: 'nobody' }],
    ['an e-mail of another type', { email: 5 }],
    ['an unverified e-mail', { email_verified: false }],
    ['an e-mail verified as the text "true"', { email_verified: 'true' }],
    ['an e-mail without the claim', { email_verified: undefined }],
  ])('rejects %s, and creates nothing', async (_, more) => {
    const accounts = await count('accounts');
    person('odd', more);

    expect(await logIn('google', 'odd')).toBeError('VALIDATION_ERROR', ['email']);
    expect(await count('accounts')).toBe(accounts);
  });

  it('rejects a GitHub account without a verified e-mail', async () => {
    atGitHub(130, 'x@example.com');
    github.person = { ...github.person, emails: [] };
    expect(await logIn('github')).toBeError('VALIDATION_ERROR', ['email']);
    atGitHub(131, 'unverified@example.com', { verified: false });
    expect(await logIn('github')).toBeError('VALIDATION_ERROR', ['email']);
  });

  it.each([
    ['a long name', '🙂'.repeat(200), '🙂'.repeat(150)],
    ['no name', undefined, 'nameless1'],
    ['an empty name', '', 'nameless2'],
    ['a name that cannot be stored', 'a\0b', 'nameless3'],
  ])('derives a valid name from %s', async (_, name, expected) => {
    const login = expected.startsWith('nameless') ? expected : 'longname';
    person(login, { name });

    expect((await me(await logIn('google', login))).name).toBe(expected);
  });

  it('knows people by subjects of up to 255 characters', async () => {
    const subject = 's'.repeat(255);
    person(subject, { email: 'subject@example.com', name: 'Subject' });
    const account = await me(await logIn('google', subject));
    expect(account).toMatchObject({ email: 'subject@example.com', name: 'Subject' });
    person(subject, { email: 'other-address@example.com' });

    expect(await me(await logIn('google', subject))).toEqual(account);
  });

  it('rejects a deactivated account', async () => {
    person('off');
    await logIn('google', 'off');
    await api.accounts.admin().setActive('off@example.com', false);

    expect(await logIn('google', 'off')).toBeError('UNAUTHENTICATED');
    atGitHub(140, 'off@example.com');
    expect(await logIn('github')).toBeError('UNAUTHENTICATED');
  });

  it('creates an account that no password opens', async () => {
    const reply = await logIn('google', person('bare'));
    const login = (password: string) => api.post('/auth/login/', { email: 'bare@example.com', password });
    const unknown = await api.post('/auth/login/', { email: 'nobody@example.com', password: 'x' });

    for (const password of ['', PASSWORD, '\0', '$argon2id$']) {
      expect((await login(password)).status).toBeGreaterThanOrEqual(401);
    }
    expect((await login(PASSWORD)).text).toBe(unknown.text);
    const change = { old_password: '', new_password: 'a new password' };
    expect(await api.post('/auth/change-password/', change, bearer(reply.body.access))).toHaveStatus(400);
    const body = { email: 'bare@example.com', name: 'Eve', password: PASSWORD };
    expect(await api.post('/auth/register/', body)).toBeError('CONFLICT');
  });

  it('creates one account from several concurrent logins of a new person', async () => {
    person('race');
    const visitors = Array.from({ length: 8 }, () => new Visitor(api));
    const callbacks = await Promise.all(
      visitors.map(async (visitor) => visitor.logInAt(await visitor.start('google'), 'race')),
    );
    const [accounts, identities] = [await count('accounts'), await count('social_identities')];

    const replies = await Promise.all(visitors.map((visitor, n) => visitor.get(callbacks[n]!)));

    for (const reply of replies) expect(reply).toHaveStatus(200);
    expect(new Set(await Promise.all(replies.map(async (reply) => (await me(reply)).id))).size).toBe(1);
    expect(await count('accounts')).toBe(accounts + 1);
    expect(await count('social_identities')).toBe(identities + 1);
  });

  it('creates one account from simultaneous logins with both providers', async () => {
    const profile = { email: 'moment@example.com', emailVerified: true, name: 'Ada' };
    const find = (n: number) =>
      api.app
        .get(SocialAccounts)
        .find(n % 2 ? 'google' : 'github', { ...profile, subject: `moment${n % 4}` });

    const accounts = await Promise.all(Array.from({ length: 12 }, (_, n) => find(n)));

    expect(new Set(accounts.map(({ id }) => id)).size).toBe(1);
  });

  it('creates one account from concurrent callbacks of both providers', async () => {
    person('two-ways');
    atGitHub(150, 'two-ways@example.com');
    const [one, two] = [new Visitor(api), new Visitor(api)];
    const callbacks = [
      await one.logInAt(await one.start('google'), 'two-ways'),
      await two.logInAt(await two.start('github'), ''),
    ] as const;

    const replies = await Promise.all([one.get(callbacks[0]), two.get(callbacks[1])]);

    for (const reply of replies) expect(reply).toHaveStatus(200);
    expect((await me(replies[0])).id).toBe((await me(replies[1])).id);
  });

  it('is listed as a login of the account', async () => {
    const { body } = await logIn('google', person('listed'));

    const { data } = (await api.get('/auth/sessions/', bearer(body.access))).body;
    expect(data).toEqual([expect.objectContaining({ kind: 'token', current: true })]);
  });
});

describe.each(STORES)('SOCIAL_LOGIN_REDIRECT on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await start(store, { SOCIAL_LOGIN_REDIRECT: FRONT_END });
  });
  afterEach(() => api.moveClock(0));
  afterAll(() => api.stop());

  const exchange = (code: unknown) => api.post('/auth/social/exchange/', { code });

  async function codeOf(login: string): Promise<string> {
    const reply = await new Visitor(api).logIn('google', person(login));
    return new URL(reply.headers['location']!).searchParams.get('code')!;
  }

  it('redirects to the front end with a one-time code, and without tokens', async () => {
    const reply = await new Visitor(api).logIn('google', person('front'));

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
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', origin: evil, referer: evil };

    const begun = await visitor.get(`/auth/social/google/?${more.join('&')}`, headers);
    const url = new URL(begun.headers['location']!);
    expect(url.origin).toBe(google.issuer);
    expect(url.searchParams.get('redirect_uri')).toBe(CALLBACK);
    expect(url.href).not.toContain('evil');
    const back = await visitor.logInAt(url.href, person('lured'));
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
      const reply = await visitor.get(await visitor.logInAt(headers['location']!, person(login)));
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
    const app = await api.restart({ social: { ...api.config.social, redirect: 'com.example.app:/welcome' } });
    expect(await app.get('/auth/social/google/')).toBeError('MALFORMED_REQUEST');
    expect(await app.get(`/auth/social/google/?code_challenge=${challenge}`)).toHaveStatus(302);
    api = await app.restart({ social: { ...api.config.social, redirect: FRONT_END } });
  });

  it('redirects with an mfa_token, and no code, if the account has a second factor', async () => {
    const secret = await withFactor('twostep');
    const reply = await new Visitor(api).logIn('google', 'twostep');
    const { searchParams } = new URL(reply.headers['location']!);
    expect([...searchParams.keys()]).toEqual(['from', 'mfa_token']);
    const timestamp = Date.now() + 30_000;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
    const step = { mfa_token: searchParams.get('mfa_token'), code };
    expect((await api.post('/auth/login/', step)).body).toHaveProperty('access');
  });

  it('binds that mfa_token to the client that started the login, too', async () => {
    const secret = await withFactor('bound');
    const visitor = new Visitor(api);
    const begun = await visitor.get(`/auth/social/google/?code_challenge=${challenge}`);
    const reply = await visitor.get(await visitor.logInAt(begun.headers['location']!, 'bound'));
    const mfa_token = new URL(reply.headers['location']!).searchParams.get('mfa_token');
    const timestamp = Date.now() + 30_000;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });

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
    const callback = await visitor.logInAt(await visitor.start('google'), person('checked'));
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
    const headers = bearer(body.access);
    const { secret } = (await api.post('/auth/mfa/totp/', {}, headers)).body;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect(await api.post('/auth/mfa/totp/confirm/', { code }, headers)).toHaveStatus(200);
    return secret as string;
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
      const reply = await arrive(person('page'));
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
          (await arrive(person('elsewhere'), `?return=${encodeURIComponent(value)}`)).headers['location'],
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
      person('waiting');
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

    it('carries an mfa_token instead, if the account has a second factor', async () => {
      const secret = await withFactor('pagestep');
      const { searchParams } = new URL((await arrive('pagestep')).headers['location']!);
      const timestamp = Date.now() + 30_000;
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
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
