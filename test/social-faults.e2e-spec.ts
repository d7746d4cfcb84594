import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { bearer } from './support/accounts.js';
import { startApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { onEach } from './support/on-each.js';
import { GitHub } from './support/social/github.js';
import { Google, type Tampering } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';
import { ANY_STORE, STORES } from './support/stores.js';

const PUBLIC_URL = 'https://api.example.com';
const CALLBACK = `${PUBLIC_URL}/auth/social/google/callback/`;

let google: Google;
let github: GitHub;
beforeAll(async () => {
  google = await new Google(CALLBACK).start();
  google.addPerson('ada');
  github = await new GitHub().start();
  const emails = [{ email: 'octo@example.com', primary: true, verified: true }];
  github.person = { id: 1, login: 'octo', name: null, emails };
});
afterEach(() => {
  google.tampering = undefined;
  google.forging = false;
  google.hanging = false;
  google.delay = 0;
  github.status = 200;
  github.user = undefined;
});
afterAll(() => Promise.all([google.stop(), github.stop()]));

const settings = () => ({ ...google.settings, ...github.settings, PUBLIC_URL });

/** The content of the cookie of a flow. */
const contentOf = (cookie: string): object =>
  JSON.parse(Buffer.from(cookie.split('=')[1]!, 'base64url').toString()) as object;

const cookieWith = (content: unknown): string =>
  `social-login=${Buffer.from(JSON.stringify(content)).toString('base64url')}`;

/** Changes the parameters of an address; `undefined` removes one. */
function withParameters(address: string, changes: Record<string, string | undefined>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

onEach('a failed social login', { settings }, ({ api }) => {
  afterEach(async () => {
    const { n } = (await api.rows.one<{ n: number }>('SELECT count(*) AS n FROM accounts'))!;
    if (n > 0) throw new Error('An account was made');
  });

  /** A visitor who has logged in at Google, and the callback that comes next. */
  async function arriving(): Promise<[Visitor, string]> {
    const visitor = new Visitor(api);
    return [visitor, await visitor.logInAt(await visitor.start('google'), 'ada')];
  }

  it.each([
    ['no state', { state: undefined }],
    ['an empty state', { state: '' }],
    ['an invented state', { state: 'x'.repeat(43) }],
    ['a denial with no state', { state: undefined, code: undefined, error: 'access_denied' }],
  ])('rejects a callback with %s', async (_, changes) => {
    const [visitor, callback] = await arriving();

    const reply = await visitor.get(withParameters(callback, changes));

    expect(reply).toBeError('MALFORMED_REQUEST');
    expect(reply.headers['set-cookie']).toMatch(/^social-login=; Max-Age=0;/);
  });

  it('rejects a callback in another browser, with or without a login there', async () => {
    const [, callback] = await arriving();
    const other = new Visitor(api);
    expect(await other.get(callback)).toBeError('MALFORMED_REQUEST');
    await other.start('google');
    expect(await other.get(callback)).toBeError('MALFORMED_REQUEST');
  });

  it('rejects a callback for another provider', async () => {
    const [visitor, callback] = await arriving();

    expect(await visitor.get(callback.replace('google', 'github'))).toBeError('MALFORMED_REQUEST');
  });

  it('rejects a late callback, and a forged expiry in the cookie', async () => {
    const [visitor, callback] = await arriving();
    const cookie = visitor.cookies(PUBLIC_URL);
    const later = cookieWith({ ...contentOf(cookie), expires: Date.now() });
    api.moveClock(600_000);

    expect(await visitor.get(callback, { cookie: later })).toBeError('MALFORMED_REQUEST');
    expect(await visitor.get(callback, { cookie })).toBeError('MALFORMED_REQUEST');
    const odd = ['social-login=', 'social-login=x', 'social-login=%00'];
    const contents = [null, 5, [], 'x', { returnsToAccount: true }, { ...contentOf(cookie), random: '' }];
    for (const each of [...odd, ...contents.map(cookieWith)]) {
      expect(await visitor.get(callback, { cookie: each })).toBeError('MALFORMED_REQUEST');
    }
  });

  it('rejects a code that Google did not issue', async () => {
    const [visitor, callback] = await arriving();

    expect(await visitor.get(withParameters(callback, { code: 'x'.repeat(43) }))).toBeError(
      'UNAUTHENTICATED',
    );
  });

  it('rejects a missing code', async () => {
    const [visitor, callback] = await arriving();

    expect(await visitor.get(withParameters(callback, { code: undefined }))).toBeError('UNAUTHENTICATED');
  });

  it('rejects the code of another login by PKCE', async () => {
    const [, stolen] = await arriving();
    const [visitor, callback] = await arriving();
    const code = new URL(stolen).searchParams.get('code')!;

    expect(await visitor.get(withParameters(callback, { code }))).toBeError('UNAUTHENTICATED');
  });

  it('rejects a response with another issuer (RFC 9207)', async () => {
    const [visitor, callback] = await arriving();

    const reply = await visitor.get(withParameters(callback, { iss: 'https://evil.example' }));
    expect(reply).toBeError('UNAUTHENTICATED');
  });

  it('rejects a login that the person has declined', async () => {
    const visitor = new Visitor(api);
    const state = new URL(await visitor.start('google')).searchParams.get('state')!;
    const denial = new URLSearchParams({ error: 'access_denied', state, iss: google.issuer }).toString();

    expect(await visitor.get(`${CALLBACK}?${denial}`)).toBeError('UNAUTHENTICATED');
  });

  it.each<[string, Tampering]>([
    ['with another nonce', (claims) => ({ ...claims, nonce: 'x'.repeat(43) })],
    ['without a nonce', (claims) => ({ ...claims, nonce: undefined })],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['for another audience', (claims) => ({ ...claims, aud: 'another-client' })],
    [
      'for two audiences, authorized for the other',
      (claims) => ({ ...claims, aud: [claims['aud'], 'x'], azp: 'x' }),
    ],
    ['that has expired', (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 60 })],
    ['that does not expire', (claims) => ({ ...claims, exp: undefined })],
    ['without a subject', (claims) => ({ ...claims, sub: undefined })],
    ['with an empty subject', (claims) => ({ ...claims, sub: '' })],
    ['with a subject that is too long', (claims) => ({ ...claims, sub: 'x'.repeat(256) })],
    ['with NUL in the subject', (claims) => ({ ...claims, sub: 'a\0' })],
  ])('rejects an ID token %s', async (_, tampering) => {
    const [visitor, callback] = await arriving();
    google.tampering = tampering;

    expect(await visitor.get(callback)).toBeError('UNAUTHENTICATED');
  });

  it('rejects an ID token signed with another key', async () => {
    const [visitor, callback] = await arriving();
    google.forging = true;

    expect(await visitor.get(callback)).toBeError('UNAUTHENTICATED');
  });

  it('responds with 503 to unexpected responses of the GitHub API', async () => {
    github.status = 500;
    expect(await new Visitor(api).logIn('github')).toBeError('SERVICE_UNAVAILABLE');
    github.status = 401;
    expect(await new Visitor(api).logIn('github')).toBeError('SERVICE_UNAVAILABLE');
    github.status = 200;
    for (const user of [{}, [], 'octo', { id: null }, { id: '1' }, { id: 1.5 }]) {
      github.user = user;
      const reply = await new Visitor(api).logIn('github');
      expect(reply).toBeError('SERVICE_UNAVAILABLE');
      expect(reply.body.error.message).toBe('The provider sent an unexpected response; retry later');
    }
  });
});

describe.each(STORES)('a callback on %s', (store) => {
  it('is accepted once, even with its cookie', async () => {
    const api = await startApi(store, settings());
    for (const provider of ['google', 'github']) {
      const visitor = new Visitor(api);
      const callback = await visitor.logInAt(await visitor.start(provider), 'ada');
      const cookie = visitor.cookies(PUBLIC_URL);
      expect(await visitor.get(callback)).toHaveStatus(200);

      expect(await visitor.get(callback)).toBeError('MALFORMED_REQUEST');
      expect(await visitor.get(callback, { cookie })).toBeError('MALFORMED_REQUEST');
    }
    await api.stop();
  });

  it('is accepted once, even with another code that the provider issued for the same login', async () => {
    const api = await startApi(store, settings());
    const visitor = new Visitor(api);
    const start = await visitor.start('google');
    const [first, second] = [await visitor.logInAt(start, 'ada'), await visitor.logInAt(start, 'ada')];
    const codeIn = (callback: string) => new URL(callback).searchParams.get('code');
    expect(codeIn(first)).not.toBe(codeIn(second));
    const cookie = visitor.cookies(PUBLIC_URL);
    expect(await visitor.get(first, { cookie })).toHaveStatus(200);

    expect(await visitor.get(second, { cookie })).toBeError('MALFORMED_REQUEST');
    expect(await new Visitor(api).logIn('google', 'ada')).toHaveStatus(200);
    await api.stop();
  });

  it('is accepted once of several concurrent requests with one code', async () => {
    const api = await startApi(store, settings());
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('github'), '');
    const cookie = visitor.cookies(PUBLIC_URL);

    const replies = await Promise.all(Array.from({ length: 5 }, () => visitor.get(callback, { cookie })));

    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 400, 400, 400, 400]);
    await api.stop();
  });
});

describe('a provider', () => {
  it.each(['twitter', 'Google', 'constructor', '__proto__', '%00', '%ff', 'x'.repeat(300)])(
    'is not found if it is unknown: %s',
    async (name) => {
      const api = await startApi(ANY_STORE, settings());

      expect(await api.get(`/auth/social/${name}/`)).toBeError('NOT_FOUND');
      expect(await api.get(`/auth/social/${name}/callback/?code=x&state=y`)).toBeError('NOT_FOUND');
      await api.stop();
    },
  );

  it('is unavailable if it is not configured', async () => {
    const api = await startApi(ANY_STORE, google.settings);

    expect((await api.get('/auth/social/')).body.data.map(({ name }: any) => name)).toEqual(['google']);
    const start = await api.get('/auth/social/github/');
    expect(start).toBeError('SERVICE_UNAVAILABLE');
    expect(start.headers).not.toHaveProperty('set-cookie');
    expect(await api.get('/auth/social/github/callback/?code=x&state=y')).toBeError('SERVICE_UNAVAILABLE');
    await api.stop();
  });

  it('affects nothing else while it is down, and works again when it is back', async () => {
    const port = await freePort();
    const issuer = `http://localhost:${port}`;
    const api = await startApi(ANY_STORE, { ...settings(), GOOGLE_ISSUER: issuer });
    expect(await api.get('/health/ready')).toHaveStatus(200);
    const refused = await api.get('/auth/social/google/');
    expect(refused).toBeError('SERVICE_UNAVAILABLE');
    expect(refused.body.error.message).toBe('The provider does not respond; retry later');

    const late = await new Google(CALLBACK).start(port);
    late.addPerson('ada');
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('google'), 'ada');
    await late.stop();
    const failed = await visitor.get(callback);
    expect(failed).toBeError('SERVICE_UNAVAILABLE');
    expect(failed.body.error.message).toBe('The provider does not respond; retry later');
    await api.stop();
  });

  it('times out if it does not respond, at the start and at the callback', async () => {
    const api = await startApi(ANY_STORE, settings());
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('google'), 'ada');
    const fresh = await startApi(ANY_STORE, settings());
    google.hanging = true;

    const [end, beginning] = await Promise.all([visitor.get(callback), fresh.get('/auth/social/google/')]);

    for (const reply of [end, beginning]) {
      expect(reply).toBeError('SERVICE_UNAVAILABLE');
      expect(reply.body.error.message).toBe('The provider does not respond; retry later');
    }
    await Promise.all([api.stop(), fresh.stop()]);
  });

  it('times out if several slow responses exceed the deadline together', async () => {
    const api = await startApi(ANY_STORE, settings());
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('google'), 'ada');
    // Requests for tokens and for keys: each is fast enough, but both together are too slow.
    google.delay = 3000;

    expect(await visitor.get(callback)).toBeError('SERVICE_UNAVAILABLE');
    await api.stop();
  }, 20_000);

  it('is rejected if its issuer differs from the setting', async () => {
    const api = await startApi(ANY_STORE, {
      ...settings(),
      GOOGLE_ISSUER: google.issuer.replace('localhost', '127.0.0.1'),
    });

    expect(await api.get('/auth/social/google/')).toBeError('SERVICE_UNAVAILABLE');
    await api.stop();
  });

  it('cannot be used if it rejects the client secret', async () => {
    const wrong = { GOOGLE_CLIENT_SECRET: 'wrong', GITHUB_CLIENT_SECRET: 'wrong' };
    const api = await startApi(ANY_STORE, { ...settings(), ...wrong });

    expect(await new Visitor(api).logIn('google', 'ada')).toBeError('SERVICE_UNAVAILABLE');
    expect(await new Visitor(api).logIn('github')).toBeError('UNAUTHENTICATED');
    await api.stop();
  });

  it('may add other signed claims', async () => {
    const api = await startApi(ANY_STORE, settings());
    google.tampering = (claims) => ({ ...claims, more: 'of it' });

    expect(await new Visitor(api).logIn('google', 'ada')).toHaveStatus(200);
    await api.stop();
  });

  it('may return the profile only from its user info endpoint', async () => {
    const other = await new Google(CALLBACK, 'user info').start();
    other.addPerson('ada', { name: 'Ada King' });
    const api = await startApi(ANY_STORE, { ...settings(), ...other.settings });

    const { body } = await new Visitor(api).logIn('google', 'ada');

    const { body: account } = await api.get('/auth/me/', bearer(body.access));
    expect(account).toMatchObject({ email: 'ada@example.com', name: 'Ada King' });
    await Promise.all([api.stop(), other.stop()]);
  });
});
