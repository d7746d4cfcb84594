import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { Passwords } from '../src/accounts/password/passwords.js';
import { SessionsService } from '../src/accounts/sessions.service.js';
import { UnverifiedAccounts } from '../src/accounts/unverified-accounts.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { Authenticator } from './support/authenticator.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { totpCode } from './support/second-factor.js';
import { Google } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';
import { startDuring } from './support/until-blocked.js';

const PUBLIC_URL = 'https://api.example.com';

const OPTIONS = {
  settings: { PUBLIC_URL },
  servers: { google: () => new Google(`${PUBLIC_URL}/auth/social/google/callback/`) },
};
onEach('a call whose login ends while it is under way', OPTIONS, ({ api, google, store }) => {
  let id: number;
  let email: string;
  let headers: Record<string, string>;
  let count = 0;
  beforeEach(async () => {
    email = `ended${++count}@example.com`;
    id = (await api.accounts.register(email)).id;
    await api.accounts.admin().verifyEmail(email);
    headers = bearer((await api.accounts.login(email)).access);
    // Otherwise, the mail would be what waits for the account.
    await api.mailsSent('verify-email');
  });
  afterAll(async () => {
    await api.stop();
    await google.stop();
  });

  const accounts = () => api.app.get(AccountsService, { strict: false });
  const endSessions = async () => {
    await accounts().lock(id);
    await api.app.get(SessionsService, { strict: false }).onSessionsEnd({ id });
  };
  const setUp = async (): Promise<string> => (await api.post('/auth/mfa/totp/', {}, headers)).body.secret;
  const factors = async () => {
    const again = bearer((await api.accounts.login(email)).access);
    const read = async (path: string) => (await api.get(path, again)).body.data;
    const { totp, passkeys } = await read('/auth/mfa/');
    return [totp, passkeys, (await read('/auth/api-keys/')).length, (await read('/auth/identities/')).length];
  };

  it('turns no second factor on', async () => {
    const code = totpCode(await setUp());
    const confirm = () => api.post('/auth/mfa/totp/confirm/', { code }, headers);
    expect(await startDuring([api, store], endSessions, confirm)).toBeError('TOKEN_NOT_VALID');
    expect(await factors()).toEqual([false, 0, 0, 0]);
  });

  it('adds no passkey', async () => {
    const { body: options } = await api.post('/auth/passkeys/options/', {}, headers);
    const response = new Authenticator(PUBLIC_URL).create(options);
    const add = () => api.post('/auth/passkeys/', { response }, headers);
    expect(await startDuring([api, store], endSessions, add)).toBeError('TOKEN_NOT_VALID');
    expect(await factors()).toEqual([false, 0, 0, 0]);
  });

  it('creates no API key', async () => {
    const create = () => api.post('/auth/api-keys/', { name: 'Late', scope: 'write' }, headers);
    expect(await startDuring([api, store], endSessions, create)).toBeError('TOKEN_NOT_VALID');
    expect(await factors()).toEqual([false, 0, 0, 0]);
  });

  it('links no identity', async () => {
    const login = `late${count}`;
    google.addPerson(login, { email: `${login}@example.org` });
    const started = await api.post('/auth/social/google/link/', {}, headers);
    const visitor = new Visitor(api);
    const callback = await visitor.logInAt(started.body.authorization_url, login);
    const [cookie] = started.headers['set-cookie']!.split(';');
    const link = () => visitor.get(callback, { cookie: cookie! });
    expect(await startDuring([api, store], endSessions, link)).toBeError('UNAUTHENTICATED');
    expect(await factors()).toEqual([false, 0, 0, 0]);
  });

  it('completes no second step after a change of the password', async () => {
    const { recovery_codes: recovery } = (
      await api.post('/auth/mfa/totp/confirm/', { code: totpCode(await setUp()) }, headers)
    ).body;
    const { mfa_token } = (await api.post('/auth/login/', { email, password: PASSWORD })).body;
    const passwordHash = await api.app.get(Passwords, { strict: false }).hash('another password');
    const change = async () => {
      await accounts().setPassword((await accounts().lock(id))!, passwordHash);
    };
    const complete = () => api.post('/auth/login/', { mfa_token, code: recovery[0] });
    expect(await startDuring([api, store], change, complete)).toBeError('TOKEN_NOT_VALID');
  });
});

const VERIFIED = { settings: { REQUIRE_VERIFIED_EMAIL: 'on' }, servers: MAILS };
onEach('the purge of accounts that never verified their e-mail', VERIFIED, ({ api, store }) => {
  it('keeps one that has just become a superuser', async () => {
    const { id } = await api.accounts.register('late@example.com');
    await api.mailsSent('verify-email');
    api.moveClock(8 * 24 * 3600_000);
    const promote = async () => {
      await api.app.get(AccountsService, { strict: false }).lock(id);
      await api.rows.execute('UPDATE accounts SET is_superuser = :yes WHERE id = :id', { yes: 1, id });
    };

    const purge = () => api.app.get(UnverifiedAccounts, { strict: false }).removeExpired();
    await startDuring([api, store], promote, purge);

    expect(await api.rows.all('SELECT id FROM accounts')).toHaveLength(1);
  });
});
