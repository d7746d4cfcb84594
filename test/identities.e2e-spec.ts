import { describe, expect, it, jest } from '@jest/globals';
import { SecurityEvents } from '../src/platform/http/security-events.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply, startApi } from './support/api.js';
import { Authenticator } from './support/authenticator.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { Google } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';
import { STORES } from './support/stores.js';

const PUBLIC_URL = 'https://api.example.com';

const servers = { ...MAILS, google: () => new Google(`${PUBLIC_URL}/auth/social/google/callback/`) };
onEach('identities', { settings: { PUBLIC_URL }, servers }, ({ api, google, mails }) => {
  const register = async (email: string, { verified = true } = {}) => {
    const { id } = await api.accounts.register(email);
    if (verified) await api.accounts.admin().verifyEmail(email);
    const { access, refresh } = await api.accounts.login(email);
    return { id: id as number, refresh, headers: bearer(access) };
  };
  const list = async (headers: Record<string, string>) =>
    (await api.get('/auth/identities/', headers)).body.data;
  const startLink = (headers: Record<string, string>, provider = 'google', query = '') =>
    api.send({ method: 'POST', url: `/auth/social/${provider}/link/${query}`, headers });
  /** Goes to the provider for a started link, and returns to the callback. */
  const follow = async (
    started: Reply,
    login: string,
    before = async (): Promise<unknown> => undefined,
    accept = '*/*',
  ) => {
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(started.body.authorization_url, login);
    await before();
    const [cookie] = started.headers['set-cookie']!.split(';');
    return visitor.get(callback, { cookie: cookie!, accept });
  };
  const link = async (headers: Record<string, string>, login: string) =>
    follow(await startLink(headers), google.addPerson(login));
  const logIn = (login: string) => new Visitor(api).logIn('google', login);
  const me = async (reply: Reply) => (await api.get('/auth/me/', bearer(reply.body.access))).body;

  it('are linked to the current account, which they can then log in to', async () => {
    const { id, headers } = await register('ada@example.com');

    const reply = await link(headers, 'another-name');

    expect(reply).toHaveStatus(200);
    expect(reply.body.data).toMatchObject({ id: expect.any(Number), provider: 'google' });
    expect(await list(headers)).toEqual([reply.body.data]);
    expect((await me(await logIn('another-name'))).id).toBe(id);
    // Linking again changes nothing.
    expect((await link(headers, 'another-name')).body).toEqual(reply.body);
  });

  it('are linked by a social login with the same verified address, and the owner gets a notice', async () => {
    const { id } = await register('told@example.com');

    expect((await me(await logIn(google.addPerson('told')))).id).toBe(id);

    await mails.nextWith('told@example.com', 'A way to log in was added');
    // Another login links nothing, and sends nothing.
    expect((await me(await logIn('told'))).id).toBe(id);
    await api.mailsSent('notice');
    const told = mails.to('told@example.com').filter(({ bytes }) => bytes.includes('was added'));
    expect(told).toHaveLength(1);
  });

  it('are at most 50 of an account', async () => {
    const { id, headers } = await register('collector@example.com');
    expect(await link(headers, 'collector-first')).toHaveStatus(200);
    const insert = `INSERT INTO social_identities (account_id, provider, subject, created_at)
      VALUES (:id, 'google', :subject, '2026-01-01T00:00:00.000Z')`;
    for (let n = 0; n < 49; n++) await api.rows.execute(insert, { id, subject: `collected ${n}` });

    expect(await link(headers, 'collector-other')).toBeError('CONFLICT');
    // By the verified address of the account.
    google.addPerson('collector');
    expect(await logIn('collector')).toBeError('CONFLICT');
    expect(await link(headers, 'collector-first')).toHaveStatus(200);
    const [, second] = await list(headers);
    expect(await api.delete(`/auth/identities/${second.id}/`, headers)).toHaveStatus(204);
    expect(await link(headers, 'collector-other')).toHaveStatus(200);
    expect(await list(headers)).toHaveLength(50);
  });

  it('and passkeys are security events when they are added and removed', async () => {
    const { id, headers } = await register('watched@example.com');
    const device = new Authenticator(PUBLIC_URL);
    const options = (await api.post('/auth/passkeys/options/', {}, headers)).body;
    const record = jest.spyOn(api.app.get(SecurityEvents, { strict: false }), 'record');

    const identity = (await link(headers, 'watched-too')).body.data;
    const response = device.create(options);
    const passkey = (await api.post('/auth/passkeys/', { response }, headers)).body.data;
    expect(await api.delete(`/auth/identities/${identity.id}/`, headers)).toHaveStatus(204);
    expect(await api.delete(`/auth/passkeys/${passkey.id}/`, headers)).toHaveStatus(204);

    expect(record.mock.calls).toEqual([
      ['identity_changed', { accountId: id, reason: 'added' }],
      ['passkey_changed', { accountId: id, reason: 'added' }],
      ['identity_changed', { accountId: id, reason: 'removed' }],
      ['passkey_changed', { accountId: id, reason: 'removed' }],
    ]);
    record.mockRestore();
  });

  it('are not linked to an account with an unverified e-mail address', async () => {
    const { headers } = await register('unverified@example.com', { verified: false });

    expect(await startLink(headers)).toBeError('FORBIDDEN');
    expect(await list(headers)).toEqual([]);
  });

  it('are not linked without a login, or at an unknown provider', async () => {
    const { headers } = await register('rules@example.com');

    expect(await startLink({})).toBeError('UNAUTHENTICATED');
    expect(await startLink(headers, 'nobody')).toBeError('NOT_FOUND');
    expect(await startLink(headers, 'github')).toBeError('SERVICE_UNAVAILABLE');
    const { cookie } = await api.accounts.session('rules@example.com');
    expect(await startLink(cookie)).toBeError('CSRF_FAILED');
  });

  it('remain with the account that they are linked to', async () => {
    const [one, two] = [await register('one@example.com'), await register('two@example.com')];
    await link(one.headers, 'shared');

    expect(await link(two.headers, 'shared')).toBeError('CONFLICT');
    expect(await list(two.headers)).toEqual([]);
    expect((await me(await logIn('shared'))).id).toBe(one.id);
  });

  it('are linked from the account page of the service, which also gets the code of an error', async () => {
    const [owner, other] = [
      await register('page-owner@example.com'),
      await register('page-other@example.com'),
    ];
    const fromPage = async ({ headers }: typeof owner, accept: string) => {
      const started = await startLink(headers, 'google', '?return=account');
      return follow(started, google.addPerson('from-page'), undefined, accept);
    };

    const linked = await fromPage(owner, 'text/html');
    expect(linked).toHaveStatus(302);
    expect(linked.headers['location']).toBe(`${PUBLIC_URL}/account/?linked=google`);
    expect(await list(owner.headers)).toHaveLength(1);
    expect((await fromPage(other, 'text/html')).headers['location']).toBe(
      `${PUBLIC_URL}/account/?error=CONFLICT`,
    );
    expect(await fromPage(other, '*/*')).toBeError('CONFLICT');
    expect(await list(other.headers)).toEqual([]);
  });

  it('are linked only in the browser that started the link', async () => {
    const { headers } = await register('browser@example.com');
    const started = await startLink(headers);
    const callback = await new Visitor(api).logInAt(
      started.body.authorization_url,
      google.addPerson('other-browser'),
    );

    expect(await new Visitor(api).get(callback)).toBeError('MALFORMED_REQUEST');
    // The cookie of a login is invalid for a link, whatever is appended to it.
    const [cookie] = started.headers['set-cookie']!.split(';');
    const [name, content] = cookie!.split('=');
    const flow = JSON.parse(Buffer.from(content!, 'base64url').toString()) as object;
    const other = Buffer.from(JSON.stringify({ ...flow, linkTo: 'another-login' })).toString('base64url');
    const forged = `${name}=${other}`;
    expect(await new Visitor(api).get(callback, { cookie: forged })).toBeError('MALFORMED_REQUEST');
    expect(await list(headers)).toEqual([]);
  });

  it('are not linked if the login that started the link has ended', async () => {
    const { headers, refresh } = await register('over@example.com');

    const reply = await follow(await startLink(headers), google.addPerson('too-late'), () =>
      api.post('/auth/logout/', { refresh }),
    );

    expect(reply).toBeError('UNAUTHENTICATED');
    expect(await list(bearer((await api.accounts.login('over@example.com')).access))).toEqual([]);
  });

  it('are removed only by their account', async () => {
    const [owner, other] = [await register('owner@example.com'), await register('other@example.com')];
    const { id } = (await link(owner.headers, 'removable')).body.data;
    const remove = (headers: Record<string, string>, which: string | number = id as number) =>
      api.delete(`/auth/identities/${which}/`, headers);

    expect(await remove({})).toBeError('UNAUTHENTICATED');
    for (const unknown of [999_999_999, 'abc', '%00', '-1', '9'.repeat(30)]) {
      expect(await remove(owner.headers, unknown)).toBeError('NOT_FOUND');
    }
    expect(await remove(other.headers)).toBeError('NOT_FOUND');
    expect(await remove(owner.headers)).toHaveStatus(204);
    expect(await remove(owner.headers)).toBeError('NOT_FOUND');
    expect(await list(owner.headers)).toEqual([]);
  });

  it('are not removed if they are the last way to log in, unless there is a password', async () => {
    const first = await logIn(google.addPerson('social'));
    const headers = bearer(first.body.access);
    const [{ id }] = await list(headers);

    expect(await api.delete(`/auth/identities/${id}/`, headers)).toBeError('CONFLICT');
    expect((await link(headers, 'second')).status).toBe(200);
    const ids = (await list(headers)).map((each: { id: number }) => each.id);
    const replies = await Promise.all(
      ids.map((each: number) => api.delete(`/auth/identities/${each}/`, headers)),
    );
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 409]);

    await api.post('/auth/password/reset/', { email: 'social@example.com' });
    const token = tokenIn(await mails.nextWith('social@example.com', 'Reset your password'));
    const confirmation = { token, new_password: PASSWORD };
    expect(await api.post('/auth/password/reset/confirm/', confirmation)).toHaveStatus(200);
    const again = bearer((await api.accounts.login('social@example.com')).access);
    const [left] = await list(again);
    expect(await api.delete(`/auth/identities/${left.id}/`, again)).toHaveStatus(204);
  });

  describe('of a victim whose address an attacker has registered first', () => {
    it("cannot be prepared by the attacker, and a reset ends the attacker's access", async () => {
      const attacker = await register('victim@example.com', { verified: false });
      expect(await startLink(attacker.headers)).toBeError('FORBIDDEN');
      expect(await logIn(google.addPerson('victim'))).toBeError('CONFLICT');

      await mails.next('victim@example.com');
      await api.post('/auth/password/reset/', { email: 'victim@example.com' });
      const token = tokenIn(await mails.next('victim@example.com'));
      await api.post('/auth/password/reset/confirm/', { token, new_password: 'the victim’s own' });

      expect(await api.post('/auth/refresh/', { refresh: attacker.refresh })).toBeError('TOKEN_NOT_VALID');
      const login = { email: 'victim@example.com', password: PASSWORD };
      expect(await api.post('/auth/login/', login)).toBeError('UNAUTHENTICATED');
      // Both this service and the provider have verified the address now.
      expect((await me(await logIn('victim'))).id).toBe(attacker.id);
    });

    it('cannot be completed by the attacker after the victim has reset the password', async () => {
      const attacker = await register('early@example.com');
      const started = await startLink(attacker.headers);

      const reply = await follow(started, google.addPerson('strangers-own'), async () => {
        await api.post('/auth/password/reset/', { email: 'early@example.com' });
        const token = tokenIn(await mails.next('early@example.com'));
        await api.post('/auth/password/reset/confirm/', { token, new_password: 'the victim’s own' });
      });

      expect(reply).toBeError('UNAUTHENTICATED');
      const { access } = await api.accounts.login('early@example.com', 'the victim’s own');
      expect(await list(bearer(access))).toEqual([]);
    });
  });
});

describe.each(STORES)('identities with SOCIAL_LOGIN_REDIRECT on %s', (store) => {
  it('redirects to the front end with the name of the provider and without a code', async () => {
    const google = await new Google(`${PUBLIC_URL}/auth/social/google/callback/`).start();
    google.addPerson('ada', { name: undefined });
    const redirect = { SOCIAL_LOGIN_REDIRECT: 'https://app.example.com/account?tab=1' };
    const api = await startApi(store, { ...google.settings, ...redirect, PUBLIC_URL });
    await api.accounts.register('front@example.com');
    await api.accounts.admin().verifyEmail('front@example.com');
    const headers = bearer((await api.accounts.login('front@example.com')).access);
    const started = await api.send({ method: 'POST', url: '/auth/social/google/link/', headers });
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(started.body.authorization_url, 'ada');

    const reply = await visitor.get(callback, { cookie: started.headers['set-cookie']!.split(';')[0]! });

    expect(reply).toHaveStatus(302);
    expect(reply.headers['location']).toBe('https://app.example.com/account?tab=1&linked=google');
    await api.stop();
    await google.stop();
  });
});
