import { expect, it, jest } from '@jest/globals';
import { SecurityEvents } from '../src/platform/http/security-events.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { Authenticator } from './support/authenticator.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { totpCode, turnOnFactor } from './support/second-factor.js';
import { Google } from './support/social/google.js';
import { Visitor } from './support/social/visitor.js';

const PUBLIC_URL = 'https://api.example.com';
const NEW_PASSWORD = 'a wholly new password';
const MINUTE = 61_000;

type Headers = Record<string, string>;

/** A stranger registers the address of somebody else, and waits until the owner uses the account. */
const OPTIONS = {
  settings: { PUBLIC_URL },
  servers: { ...MAILS, google: () => new Google(`${PUBLIC_URL}/auth/social/google/callback/`) },
};
onEach('an account that a stranger has prepared', OPTIONS, ({ api, google, mails }) => {
  let count = 0;

  const register = async (email: string) => {
    await api.accounts.register(email);
    return tokenIn(await mails.next(email));
  };
  const logIn = async (email: string): Promise<Headers> => bearer((await api.accounts.login(email)).access);
  const verify = (token: string, body = {}, headers: Headers = {}) =>
    api.post('/auth/email/verify/', { token, ...body }, headers);
  const reset = async (email: string) => {
    api.advanceClock(MINUTE);
    expect(await api.post('/auth/password/reset/', { email })).toHaveStatus(202);
    const token = tokenIn(await mails.nextWith(email, 'Reset your password'));
    const body = { token, new_password: NEW_PASSWORD };
    expect(await api.post('/auth/password/reset/confirm/', body)).toHaveStatus(200);
  };
  const addPasskey = async (headers: Headers): Promise<Authenticator> => {
    const device = new Authenticator(PUBLIC_URL);
    const options = (await api.post('/auth/passkeys/options/', {}, headers)).body;
    expect(await api.post('/auth/passkeys/', { response: device.create(options) }, headers)).toHaveStatus(
      201,
    );
    return device;
  };
  const usePasskey = async (device: Authenticator) => {
    const options = (await api.post('/auth/passkeys/login/options/', {})).body;
    return api.post('/auth/passkeys/login/', { response: device.get(options) });
  };
  const linkGoogle = async (headers: Headers): Promise<string> => {
    const started = await api.send({ method: 'POST', url: '/auth/social/google/link/', headers });
    const person = google.addPerson(`stranger${++count}`);
    const callback = await new Visitor(api).logInAt(started.body.authorization_url, person);
    const [cookie] = started.headers['set-cookie']!.split(';');
    expect(await new Visitor(api).get(callback, { cookie: cookie! })).toHaveStatus(200);
    return person;
  };
  const accountOf = async (headers: Headers) => (await api.get('/auth/me/', headers)).body;

  it('is the owner’s alone after a reset, whatever the stranger added after the owner had verified it', async () => {
    const email = `victim${++count}@example.com`;
    const token = await register(email);
    const earlier = await logIn(email);
    const { id } = await accountOf(earlier);
    expect(await verify(token)).toHaveStatus(200);
    expect(await api.get('/auth/me/', earlier)).toBeError('TOKEN_NOT_VALID');

    const stranger = await logIn(email);
    const device = await addPasskey(stranger);
    const key = (await api.post('/auth/api-keys/', { name: 'Key', scope: 'write' }, stranger)).body.data.key;
    const person = await linkGoogle(stranger);
    api.advanceClock(MINUTE);
    const elsewhere = { new_email: `elsewhere${count}@example.com`, password: PASSWORD };
    expect(await api.post('/auth/email/change/', elsewhere, stranger)).toHaveStatus(202);
    const change = tokenIn(await mails.next(elsewhere.new_email));
    await turnOnFactor(api, stranger);
    expect(await usePasskey(device)).toHaveStatus(200);
    expect((await api.get('/auth/me/', bearer(key))).body.id).toBe(id);
    const record = jest.spyOn(api.app.get(SecurityEvents, { strict: false }), 'record');
    await reset(email);
    const recorded = record.mock.calls.filter(([, subject]) => subject?.accountId === id);
    expect(recorded.map(([event]) => event).toSorted()).toEqual([
      'api_key_removed',
      'factor_changed',
      'identity_changed',
      'passkey_changed',
      'password_changed',
    ]);
    record.mockRestore();

    expect(await api.get('/auth/me/', stranger)).toBeError('TOKEN_NOT_VALID');
    expect(await usePasskey(device)).toBeError('UNAUTHENTICATED');
    expect(await api.get('/auth/me/', bearer(key))).toBeError('TOKEN_NOT_VALID');
    const social = await new Visitor(api).logIn('google', person);
    expect((await accountOf(bearer(social.body.access))).id).not.toBe(id);
    expect(await api.post('/auth/email/change/confirm/', { token: change })).toBeError('INVALID_CODE');
    // No second factor is asked for.
    const owner = bearer((await api.accounts.login(email, NEW_PASSWORD)).access);
    const { account, ...rest } = (await api.get('/auth/me/export/', owner)).body;
    expect(account).toMatchObject({ id, email });
    expect(rest).toMatchObject({ identities: [], passkeys: [], api_keys: [], logins: [{ kind: 'token' }] });
  });

  it.each([
    ['authenticated as the account', {}, true],
    ['with its password', { password: PASSWORD }, false],
  ])(
    'is not presumed where it was verified %s: logins and what is added stay',
    async (_, body, isLoggedIn) => {
      const email = `owner${++count}@example.com`;
      const token = await register(email);
      const headers = await logIn(email);
      expect(await verify(token, body, isLoggedIn ? headers : {})).toHaveStatus(200);
      expect(await api.get('/auth/me/', headers)).toHaveStatus(200);
      const device = await addPasskey(headers);

      await reset(email);

      expect(await usePasskey(device)).toHaveStatus(200);
    },
  );

  it('is the owner’s alone after their first social login, whatever the stranger has added', async () => {
    const person = google.addPerson(`victim${++count}`);
    const email = `${person}@example.com`;
    expect(await verify(await register(email))).toHaveStatus(200);
    const stranger = await logIn(email);
    const { id } = await accountOf(stranger);
    const device = await addPasskey(stranger);
    const key = (await api.post('/auth/api-keys/', { name: 'Key', scope: 'write' }, stranger)).body.data.key;

    const { body } = await new Visitor(api).logIn('google', person);

    const owner = bearer(body.access);
    expect(await accountOf(owner)).toMatchObject({ id, email });
    expect(await api.post('/auth/login/', { email, password: PASSWORD })).toBeError('UNAUTHENTICATED');
    expect(await usePasskey(device)).toBeError('UNAUTHENTICATED');
    for (const headers of [stranger, bearer(key)])
      expect(await api.get('/auth/me/', headers)).toBeError('TOKEN_NOT_VALID');
    expect(await mails.nextWith(email, 'Your password was changed')).toBeDefined();
    const added = await addPasskey(owner);
    await reset(email);
    expect(await usePasskey(added)).toHaveStatus(200);
    expect((await new Visitor(api).logIn('google', person)).body).toHaveProperty('access');
  });

  it('is the owner’s alone after an operator has set its password', async () => {
    const email = `victim${++count}@example.com`;
    expect(await verify(await register(email))).toHaveStatus(200);
    const device = await addPasskey(await logIn(email));

    await api.accounts.setPassword(email, NEW_PASSWORD);

    expect(await usePasskey(device)).toBeError('UNAUTHENTICATED');
  });

  it('is not confirmed by the login of another account', async () => {
    const email = `victim${++count}@example.com`;
    const token = await register(email);
    const stranger = await logIn(email);
    const other = `other${count}@example.com`;
    await register(other);
    expect(await verify(token, {}, await logIn(other))).toHaveStatus(200);
    expect(await api.get('/auth/me/', stranger)).toBeError('TOKEN_NOT_VALID');
    const device = await addPasskey(await logIn(email));

    await reset(email);

    expect(await usePasskey(device)).toBeError('UNAUTHENTICATED');
  });

  it.each([
    ['the link alone', false],
    ['the link and the login of the account', true],
  ])(
    'and moved to the owner’s address by %s keeps what was added only in the latter case',
    async (_, isLoggedIn) => {
      const email = `mover${++count}@example.com`;
      const token = await register(email);
      const headers = await logIn(email);
      expect(await verify(token, {}, headers)).toHaveStatus(200);
      const before = await addPasskey(headers);
      const { secret } = await turnOnFactor(api, headers);
      api.advanceClock(MINUTE);
      const new_email = `moved${count}@example.com`;
      const code = totpCode(secret, api.now.getTime() - Date.now());
      const change = { new_email, password: PASSWORD, code };
      expect(await api.post('/auth/email/change/', change, headers)).toHaveStatus(202);
      const confirmation = { token: tokenIn(await mails.next(new_email)) };
      const sent = isLoggedIn ? headers : {};
      expect(await api.post('/auth/email/change/confirm/', confirmation, sent)).toHaveStatus(200);
      const after = await addPasskey(headers);

      await reset(new_email);

      for (const device of [before, after])
        expect(await usePasskey(device)).toHaveStatus(isLoggedIn ? 200 : 401);
    },
  );
});
