import { expect, it } from '@jest/globals';
import { SocialAccounts } from '../src/accounts/social/social-accounts.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { onEach } from './support/on-each.js';
import { GitHub } from './support/social/github.js';
import { Google } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';

const PUBLIC_URL = 'https://api.example.com';
const CALLBACK = `${PUBLIC_URL}/auth/social/google/callback/`;

const servers = { google: () => new Google(CALLBACK), github: () => new GitHub() };
onEach('social login', { settings: { PUBLIC_URL }, servers }, ({ api, google, github }) => {
  const atGitHub = (id: number, email: string, { verified = true, name = null as string | null } = {}) => {
    github.person = { id, login: `octo${id}`, name, emails: [{ email, primary: true, verified }] };
  };
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
      /^social-login=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
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
    google.addPerson('new');
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
    google.addPerson('new', { email: 'moved@example.com', email_verified: false, name: 'Another' });
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
    google.addPerson('both');
    atGitHub(120, 'BOTH@example.com');
    const account = await me(await logIn('google', 'both'));
    const accounts = await count('accounts');

    expect(await me(await logIn('github'))).toEqual(account);
    expect(await count('accounts')).toBe(accounts);
  });

  it('uses the account with a password, if both sides have verified its e-mail', async () => {
    const { id } = await api.accounts.register('Owner@example.com');
    await api.accounts.admin().verifyEmail('Owner@example.com');

    expect((await me(await logIn('google', google.addPerson('owner')))).id).toBe(id);
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
    google.addPerson(login, { email_verified: theirs });
    const [accounts, identities] = [await count('accounts'), await count('social_identities')];

    expect(await logIn('google', login)).toBeError('CONFLICT');
    atGitHub(200 + Number(theirs) * 2 + Number(ours), `${login}@example.com`, { verified: theirs });
    expect(await logIn('github')).toBeError('CONFLICT');

    expect([await count('accounts'), await count('social_identities')]).toEqual([accounts, identities]);
    await api.accounts.login(`${login}@example.com`);
  });

  it('rejects an e-mail that differs from that of an account in more than the case of ASCII letters', async () => {
    await api.accounts.register('grün@example.com');
    await api.accounts.admin().verifyEmail('grün@example.com');
    google.addPerson('green', { email: 'GRÜN@example.com' });
    const identities = await count('social_identities');

    expect(await logIn('google', 'green')).toBeError('CONFLICT');
    expect(await count('social_identities')).toBe(identities);
  });

  it('makes no account with REGISTRATION=closed, and finds those that exist', async () => {
    const { id } = await me(await logIn('google', google.addPerson('early')));
    const accounts = await count('accounts');
    await api.restart({ registrationOpen: false });

    expect(await logIn('google', google.addPerson('stranger'))).toBeError('FORBIDDEN');
    expect(await count('accounts')).toBe(accounts);
    expect((await me(await logIn('google', 'early'))).id).toBe(id);
    await api.restart({ registrationOpen: true });
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
    google.addPerson('odd', more);

    expect(await logIn('google', 'odd')).toBeError('VALIDATION_ERROR', ['email']);
    expect(await count('accounts')).toBe(accounts);
  });

  it('rejects a GitHub account without a verified e-mail', async () => {
    atGitHub(130, 'x@example.com');
    github.person = { ...github.person, emails: [] };
    expect(await logIn('github')).toBeError('VALIDATION_ERROR', ['email']);
    atGitHub(131, 'unverified@example.com', { verified: false });
    expect(await logIn('github')).toBeError('VALIDATION_ERROR', ['email']);
    // Another e-mail is verified, and not the one that the login uses.
    const verified = { email: 'verified@example.com', primary: false, verified: true };
    github.person = { ...github.person, emails: [...github.person.emails, verified] };
    expect(await logIn('github')).toBeError('VALIDATION_ERROR', ['email']);
  });

  it.each([
    ['a long name', '🙂'.repeat(200), '🙂'.repeat(150)],
    ['no name', undefined, 'nameless1'],
    ['an empty name', '', 'nameless2'],
    ['a name that cannot be stored', 'a\0b', 'nameless3'],
  ])('derives a valid name from %s', async (_, name, expected) => {
    const login = expected.startsWith('nameless') ? expected : 'longname';
    google.addPerson(login, { name });

    expect((await me(await logIn('google', login))).name).toBe(expected);
  });

  it('knows people by subjects of up to 255 characters', async () => {
    const subject = 's'.repeat(255);
    google.addPerson(subject, { email: 'subject@example.com', name: 'Subject' });
    const account = await me(await logIn('google', subject));
    expect(account).toMatchObject({ email: 'subject@example.com', name: 'Subject' });
    google.addPerson(subject, { email: 'other-address@example.com' });

    expect(await me(await logIn('google', subject))).toEqual(account);
  });

  it('rejects a deactivated account', async () => {
    google.addPerson('off');
    await logIn('google', 'off');
    await api.accounts.admin().setActive('off@example.com', false);

    expect(await logIn('google', 'off')).toBeError('UNAUTHENTICATED');
    atGitHub(140, 'off@example.com');
    expect(await logIn('github')).toBeError('UNAUTHENTICATED');
  });

  it('creates an account that no password opens', async () => {
    const reply = await logIn('google', google.addPerson('bare'));
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
    google.addPerson('race');
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
    google.addPerson('two-ways');
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
    const { body } = await logIn('google', google.addPerson('listed'));

    const { data } = (await api.get('/auth/sessions/', bearer(body.access))).body;
    expect(data).toEqual([expect.objectContaining({ kind: 'token', current: true })]);
  });
});
