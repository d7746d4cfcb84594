import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Queries } from '../src/database/queries.js';
import { bearer, startApi, type TestApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { GitHub } from './support/social/github.js';
import { Google, type Tampering } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';
import { STORES } from './support/stores.js';

const PUBLIC_URL = 'https://api.example.com';
const CALLBACK = `${PUBLIC_URL}/auth/social/google/callback/`;

let google: Google;
let github: GitHub;
beforeAll(async () => {
  google = await Google.start(CALLBACK);
  google.people['ada'] = { email: 'ada@example.com', email_verified: true, name: 'Ada' };
  github = await GitHub.start();
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

/** The same address with other parameters; `undefined` takes one away. */
function withParameters(address: string, changes: Record<string, string | undefined>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

describe.each(STORES)('social login on %s makes nothing of', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store, settings());
  });
  afterEach(async () => {
    api.moveClock(0);
    const { n } = (await api.app.get(Queries).one<{ n: number }>('SELECT count(*) AS n FROM accounts'))!;
    if (n > 0) throw new Error('An account was made');
  });
  afterAll(() => api.stop());

  /** Someone who is about to come back from Google. */
  async function arriving(): Promise<[Visitor, string]> {
    const visitor = new Visitor(api);
    return [visitor, await visitor.logInAt(await visitor.start('google'), 'ada')];
  }

  it.each([
    ['no state', { state: undefined }],
    ['an empty state', { state: '' }],
    ['a made-up state', { state: 'x'.repeat(43) }],
    ['a denial with no state', { state: undefined, code: undefined, error: 'access_denied' }],
  ])('a callback with %s', async (_, changes) => {
    const [visitor, callback] = await arriving();

    const reply = await visitor.ask(withParameters(callback, changes));

    expect(reply).toBeError('MALFORMED_REQUEST');
    expect(reply.headers['set-cookie']).toMatch(/^social-login=; Max-Age=0;/);
  });

  it('a callback in another browser, with or without a login of its own', async () => {
    const [, callback] = await arriving();
    const other = new Visitor(api);
    expect(await other.ask(callback)).toBeError('MALFORMED_REQUEST');
    await other.start('google');
    expect(await other.ask(callback)).toBeError('MALFORMED_REQUEST');
  });

  it('a callback of another provider', async () => {
    const [visitor, callback] = await arriving();

    expect(await visitor.ask(callback.replace('google', 'github'))).toBeError('MALFORMED_REQUEST');
  });

  it('a callback that comes too late, or whose cookie says that it does not', async () => {
    const [visitor, callback] = await arriving();
    const cookie = visitor.cookies(PUBLIC_URL);
    const later = cookie.replace(/\d+$/, (expires) => String(Number(expires) + 3600));
    api.moveClock(600_000);

    expect(await visitor.ask(callback, { cookie: later })).toBeError('MALFORMED_REQUEST');
    expect(await visitor.ask(callback, { cookie })).toBeError('MALFORMED_REQUEST');
    for (const odd of ['social-login=', 'social-login=x', 'social-login=.9999999999', 'social-login=%00']) {
      expect(await visitor.ask(callback, { cookie: odd })).toBeError('MALFORMED_REQUEST');
    }
  });

  it('a code that Google does not know', async () => {
    const [visitor, callback] = await arriving();

    expect(await visitor.ask(withParameters(callback, { code: 'x'.repeat(43) }))).toBeError(
      'UNAUTHENTICATED',
    );
  });

  it('no code', async () => {
    const [visitor, callback] = await arriving();

    expect(await visitor.ask(withParameters(callback, { code: undefined }))).toBeError('UNAUTHENTICATED');
  });

  it('a code of another login, which PKCE binds to that', async () => {
    const [, stolen] = await arriving();
    const [visitor, callback] = await arriving();
    const code = new URL(stolen).searchParams.get('code')!;

    expect(await visitor.ask(withParameters(callback, { code }))).toBeError('UNAUTHENTICATED');
  });

  it('a response in the name of another issuer (RFC 9207)', async () => {
    const [visitor, callback] = await arriving();

    const reply = await visitor.ask(withParameters(callback, { iss: 'https://evil.example' }));
    expect(reply).toBeError('UNAUTHENTICATED');
  });

  it('someone who changed their mind', async () => {
    const visitor = new Visitor(api);
    const state = new URL(await visitor.start('google')).searchParams.get('state')!;
    const denial = new URLSearchParams({ error: 'access_denied', state, iss: google.issuer }).toString();

    expect(await visitor.ask(`${CALLBACK}?${denial}`)).toBeError('UNAUTHENTICATED');
  });

  it.each<[string, Tampering]>([
    ['of another nonce', (claims) => ({ ...claims, nonce: 'x'.repeat(43) })],
    ['without a nonce', (claims) => ({ ...claims, nonce: undefined })],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['for another audience', (claims) => ({ ...claims, aud: 'another-client' })],
    ['for another as well, on its behalf', (claims) => ({ ...claims, aud: [claims['aud'], 'x'], azp: 'x' })],
    ['that has expired', (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 60 })],
    ['that does not expire', (claims) => ({ ...claims, exp: undefined })],
    ['of nobody', (claims) => ({ ...claims, sub: undefined })],
    ['of an empty name', (claims) => ({ ...claims, sub: '' })],
    ['of a name too long', (claims) => ({ ...claims, sub: 'x'.repeat(256) })],
    ['of a name with NUL', (claims) => ({ ...claims, sub: 'a\0' })],
  ])('an ID token %s', async (_, tampering) => {
    const [visitor, callback] = await arriving();
    google.tampering = tampering;

    expect(await visitor.ask(callback)).toBeError('UNAUTHENTICATED');
  });

  it('an ID token that another key has signed', async () => {
    const [visitor, callback] = await arriving();
    google.forging = true;

    expect(await visitor.ask(callback)).toBeError('UNAUTHENTICATED');
  });

  it('an API of GitHub that does not respond as it should', async () => {
    github.status = 500;
    expect(await new Visitor(api).logIn('github')).toBeError('SERVICE_UNAVAILABLE');
    github.status = 401;
    expect(await new Visitor(api).logIn('github')).toBeError('SERVICE_UNAVAILABLE');
    github.status = 200;
    for (const user of [{}, [], 'octo', { id: null }, { id: '1' }, { id: 1.5 }]) {
      github.user = user;
      expect(await new Visitor(api).logIn('github')).toBeError('SERVICE_UNAVAILABLE');
    }
  });
});

describe.each(STORES)('a callback on %s', (store) => {
  it('is good once, in the same browser as well, and whatever that keeps', async () => {
    const api = await startApi(store, settings());
    for (const provider of ['google', 'github']) {
      const visitor = new Visitor(api);
      const callback = await visitor.logInAt(await visitor.start(provider), 'ada');
      const cookie = visitor.cookies(PUBLIC_URL);
      expect(await visitor.ask(callback)).toHaveStatus(200);

      expect(await visitor.ask(callback)).toBeError('MALFORMED_REQUEST');
      expect(await visitor.ask(callback, { cookie })).toBeError('UNAUTHENTICATED');
    }
    await api.stop();
  });

  it('of many at once with one code lets one in', async () => {
    const api = await startApi(store, settings());
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('github'), '');
    const cookie = visitor.cookies(PUBLIC_URL);

    const replies = await Promise.all(Array.from({ length: 5 }, () => visitor.ask(callback, { cookie })));

    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 401, 401, 401, 401]);
    await api.stop();
  });
});

describe('a provider', () => {
  it.each(['twitter', 'Google', 'constructor', '__proto__', '%00', '%ff', 'x'.repeat(300)])(
    'that nobody knows is not found: %s',
    async (name) => {
      const api = await startApi('SQLite', settings());

      expect(await api.get(`/auth/social/${name}/`)).toBeError('NOT_FOUND');
      expect(await api.get(`/auth/social/${name}/callback/?code=x&state=y`)).toBeError('NOT_FOUND');
      await api.stop();
    },
  );

  it('that is not configured is not there for now', async () => {
    const api = await startApi('SQLite', google.settings);

    expect((await api.get('/auth/social/')).body.data.map(({ name }: any) => name)).toEqual(['google']);
    const start = await api.get('/auth/social/github/');
    expect(start).toBeError('SERVICE_UNAVAILABLE');
    expect(start.headers).not.toHaveProperty('set-cookie');
    expect(await api.get('/auth/social/github/callback/?code=x&state=y')).toBeError('SERVICE_UNAVAILABLE');
    await api.stop();
  });

  it('that is down keeps nothing else from working, and is asked again when it is back', async () => {
    const port = await freePort();
    const issuer = `http://localhost:${port}`;
    const api = await startApi('SQLite', { ...settings(), GOOGLE_ISSUER: issuer });
    expect(await api.get('/health/ready')).toHaveStatus(200);
    expect(await api.get('/auth/social/google/')).toBeError('SERVICE_UNAVAILABLE');

    const late = await Google.start(CALLBACK, { port });
    late.people['ada'] = google.people['ada']!;
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('google'), 'ada');
    await late.stop();
    expect(await visitor.ask(callback)).toBeError('SERVICE_UNAVAILABLE');
    await api.stop();
  });

  it('that does not respond is given up after some seconds, at the start and at the end', async () => {
    const api = await startApi('SQLite', settings());
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('google'), 'ada');
    const fresh = await startApi('SQLite', settings());
    google.hanging = true;

    const [end, beginning] = await Promise.all([visitor.ask(callback), fresh.get('/auth/social/google/')]);

    expect(end).toBeError('SERVICE_UNAVAILABLE');
    expect(beginning).toBeError('SERVICE_UNAVAILABLE');
    await Promise.all([api.stop(), fresh.stop()]);
  });

  it('that is slow again and again is given up as if it did not respond once', async () => {
    const api = await startApi('SQLite', settings());
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(await visitor.start('google'), 'ada');
    // Its tokens and then its keys: each in time, both together too late.
    google.delay = 3000;

    expect(await visitor.ask(callback)).toBeError('SERVICE_UNAVAILABLE');
    await api.stop();
  }, 20_000);

  it('that is another than the settings say is not believed', async () => {
    const api = await startApi('SQLite', {
      ...settings(),
      GOOGLE_ISSUER: google.issuer.replace('localhost', '127.0.0.1'),
    });

    expect(await api.get('/auth/social/google/')).toBeError('SERVICE_UNAVAILABLE');
    await api.stop();
  });

  it('that takes our secret for wrong cannot be used', async () => {
    const wrong = { GOOGLE_CLIENT_SECRET: 'wrong', GITHUB_CLIENT_SECRET: 'wrong' };
    const api = await startApi('SQLite', { ...settings(), ...wrong });

    expect(await new Visitor(api).logIn('google', 'ada')).toBeError('SERVICE_UNAVAILABLE');
    expect(await new Visitor(api).logIn('github')).toBeError('UNAUTHENTICATED');
    await api.stop();
  });

  it('is believed what it has signed, whatever else it says', async () => {
    const api = await startApi('SQLite', settings());
    google.tampering = (claims) => ({ ...claims, more: 'of it' });

    expect(await new Visitor(api).logIn('google', 'ada')).toHaveStatus(200);
    await api.stop();
  });

  it('may say who someone is in its user info alone', async () => {
    const other = await Google.start(CALLBACK, { claimsIn: 'user info' });
    other.people['ada'] = google.people['ada']!;
    const api = await startApi('SQLite', { ...settings(), ...other.settings });

    const { body } = await new Visitor(api).logIn('google', 'ada');

    const { body: account } = await api.get('/auth/me/', bearer(body.access));
    expect(account).toMatchObject({ email: 'ada@example.com', name: 'Ada' });
    await Promise.all([api.stop(), other.stop()]);
  });
});
