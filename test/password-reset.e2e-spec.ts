import { expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { MailSender } from '../src/platform/mail/index.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { totpCode, turnOnFactor } from './support/second-factor.js';
import { statementsOf } from './support/statements.js';
import { until } from './support/until.js';

const HOUR = 3600_000;

/** After it, another mail may be sent to an address. */
const MINUTE = 61_000;
const NEW_PASSWORD = 'a wholly new password';

const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

onEach('a password reset', { settings: { TRUST_PROXY: '127.0.0.1' }, servers: MAILS }, ({ api, mails }) => {
  const register = async (email: string) => {
    const { id } = await api.accounts.register(email);
    await mails.next(email);
    const tokens = await api.accounts.login(email);
    return { id: id as number, ...tokens, headers: bearer(tokens.access) };
  };
  const request = (email: unknown) => patiently(() => api.post('/auth/password/reset/', { email }));
  const confirm = (token: string, new_password: unknown = NEW_PASSWORD) =>
    api.post('/auth/password/reset/confirm/', { token, new_password });
  const tokenFor = async (email: string) => {
    expect(await request(email)).toHaveStatus(202);
    return tokenIn(await mails.nextWith(email, 'Reset your password'));
  };
  const login = (email: string, password: string) => api.post('/auth/login/', { email, password });
  const me = async (headers: Record<string, string>) => (await api.get('/auth/me/', headers)).body;
  const identities = async (id: number) =>
    (await api.rows.one<{ n: number }>('SELECT count(*) AS n FROM social_identities WHERE account_id = :id', {
      id,
    }))!.n;
  const addIdentity = (id: number) =>
    api.rows.execute(
      `INSERT INTO social_identities (account_id, provider, subject, created_at)
         VALUES (:id, 'google', :subject, '2026-01-01T00:00:00.000Z')`,
      { id, subject: `stranger ${id}` },
    );
  const settle = async () => {
    for (let left = 1; left > 0;) {
      await api.app.get(MailSender).poll();
      // A mail is due after a delay.
      await sleep(20);
      left = (await api.rows.one<{ n: number }>('SELECT count(*) AS n FROM mails'))!.n;
    }
  };

  it('sets the password, ends every login, counts as a verification, and is told to the owner', async () => {
    const { headers, refresh } = await register('ada@example.com');
    const session = await api.accounts.session('ada@example.com');
    const token = await tokenFor('ada@example.com');

    expect(await confirm(token)).toHaveStatus(200);

    await mails.nextWith('ada@example.com', 'Your password was changed');
    expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');
    expect(await api.get('/auth/session/', session.cookie)).toBeError('UNAUTHENTICATED');
    expect(await login('ada@example.com', PASSWORD)).toBeError('UNAUTHENTICATED');
    const { access } = await api.accounts.login('ada@example.com', NEW_PASSWORD);
    expect((await me(bearer(access))).is_email_verified).toBe(true);
    expect(await api.get('/auth/me/', headers)).toBeError('TOKEN_NOT_VALID');
    expect(await confirm(token)).toBeError('INVALID_CODE');
  });

  it('has one response for every address, and sends mail to active accounts only', async () => {
    await register('known@example.com');
    await register('off@example.com');
    await api.accounts.admin().setActive('off@example.com', false);

    const replies = await Promise.all(
      ['known', 'unknown', 'off'].map((name) => request(`${name}@example.com`)),
    );
    const [known, ...others] = replies.map(({ status, text }) => [status, text]);
    expect(known![0]).toBe(202);
    for (const other of others) expect(other).toEqual(known);
    await mails.next('known@example.com');
    await settle();
    expect(mails.to('unknown@example.com')).toEqual([]);
    expect(mails.to('off@example.com')).toHaveLength(1);
  });

  it('runs the same statements for every address', async () => {
    await register('worked@example.com');
    const statementsFor = async (email: string) => {
      await settle();
      return statementsOf(() => request(email));
    };

    expect(await statementsFor('worked@example.com')).toEqual(await statementsFor('not-worked@example.com'));
  });

  it('sends one mail per minute and address, regardless of letter case', async () => {
    await register('minute@example.com');
    for (const reply of await times(5, (n) => request(n % 2 ? 'minute@example.com' : 'MINUTE@example.com'))) {
      expect(reply).toHaveStatus(202);
    }
    await settle();
    expect(mails.to('minute@example.com')).toHaveLength(2);

    api.moveClock(61_000);
    expect(await request('minute@example.com')).toHaveStatus(202);
    await settle();
    expect(mails.to('minute@example.com')).toHaveLength(3);
  });

  it('and other mails to addresses of others are 100 within an hour for a network', async () => {
    const { headers } = await register('limited@example.com');
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const ask = (email: string, address: string) =>
      patiently(() => api.post('/auth/password/reset/', { email }, from(address)));
    for (const reply of await times(100, (n) => ask(`nobody${n}@example.com`, `2001:db8:5:${n + 1}::1`)))
      expect(reply).toHaveStatus(202);

    // The same network: as always, but without a mail.
    const client = '2001:db8:5:ffff::1';
    expect(await ask('limited@example.com', client)).toHaveStatus(202);
    const body = { email: 'silent@example.com', name: 'Ada', password: PASSWORD };
    expect(await api.post('/auth/register/', body, from(client))).toHaveStatus(201);
    const change = { new_email: 'moved@example.com', password: PASSWORD };
    const changed = await api.post('/auth/email/change/', change, { ...headers, ...from(client) });
    expect(changed).toHaveStatus(202);
    api.moveClock(2 * 61_000);
    const again = await api.post('/auth/email/resend/', {}, { ...headers, ...from(client) });
    expect(again).toBeError('RATE_LIMITED');
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(3000);
    await settle();
    expect(mails.to('silent@example.com')).toEqual([]);
    expect(mails.to('moved@example.com')).toEqual([]);
    expect(mails.to('limited@example.com').filter(({ bytes }) => bytes.includes('Reset'))).toEqual([]);

    // Its mails are not taken away from the owner, and another client is free, as is this one after an hour.
    expect(await ask('limited@example.com', '2001:db8:6::1')).toHaveStatus(202);
    await mails.nextWith('limited@example.com', 'Reset your password');
    api.moveClock(3700_000);
    const credentials = { email: 'limited@example.com', password: PASSWORD };
    expect(await api.post('/auth/email/resend/', credentials, from(client))).toHaveStatus(202);
    // Otherwise it would wait for that time after the test.
    await settle();
  });

  it('sends at most 10 mails a day to an address that one network requests, half of all', async () => {
    await register('besieged@example.com');
    const ask = (address: string) =>
      api.post('/auth/password/reset/', { email: 'besieged@example.com' }, { 'x-forwarded-for': address });
    const sent = async () => {
      await settle();
      return mails.to('besieged@example.com').filter(({ bytes }) => bytes.includes('Reset your password'))
        .length;
    };
    for (let n = 0; n < 12; n++) {
      expect(await ask(`203.0.113.${n}`)).toHaveStatus(202);
      await settle();
      api.advanceClock(MINUTE);
    }
    expect(await sent()).toBe(10);

    for (let n = 0; n < 12; n++) {
      expect(await ask('198.51.100.7')).toHaveStatus(202);
      await settle();
      api.advanceClock(MINUTE);
    }
    expect(await sent()).toBe(20);
    expect(await ask('192.0.2.1')).toHaveStatus(202);
    expect(await sent()).toBe(20);
    api.advanceClock(24 * HOUR);
    expect(await ask('203.0.113.9')).toHaveStatus(202);
    expect(await sent()).toBe(21);
  });

  it('is possible for an hour, and only with the newest token', async () => {
    await register('hour@example.com');
    const first = await tokenFor('hour@example.com');
    await api.mailsSent('reset-password');
    api.moveClock(61_000);
    const second = await tokenFor('hour@example.com');
    await api.mailsSent('reset-password');

    expect(await confirm(first)).toBeError('INVALID_CODE');
    api.moveClock(HOUR + 62_000);
    expect(await confirm(second)).toBeError('INVALID_CODE');
    api.moveClock(HOUR + 55_000);
    expect(await confirm(second)).toHaveStatus(200);
  });

  it('rejects a short password, and leaves the token valid', async () => {
    const { refresh } = await register('poor@example.com');
    const token = await tokenFor('poor@example.com');

    expect(await confirm(token, '12345')).toBeError('VALIDATION_ERROR', ['new_password']);
    expect(await api.post('/auth/verify/', { token: refresh })).toHaveStatus(200);
    expect(await confirm(token)).toHaveStatus(200);
  });

  it('rejects invalid input', async () => {
    expect(await request('nobody')).toBeError('VALIDATION_ERROR', ['email']);
    expect(await confirm('x')).toBeError('INVALID_CODE');
    // A token of another purpose.
    await api.accounts.register('purpose@example.com');
    const verification = tokenIn(await mails.next('purpose@example.com'));
    expect(await confirm(verification)).toBeError('INVALID_CODE');
    expect(await api.post('/auth/email/verify/', { token: verification })).toHaveStatus(200);
  });

  it('of an account with an unverified address removes its linked identities and its second factor', async () => {
    const { id, headers } = await register('victim@example.com');
    await addIdentity(id);
    await turnOnFactor(api, headers);

    expect(await confirm(await tokenFor('victim@example.com'))).toHaveStatus(200);

    expect(await identities(id)).toBe(0);
    expect(await api.accounts.login('victim@example.com', NEW_PASSWORD)).toHaveProperty('access');
  });

  it('sends a token that completes no login with a second factor', async () => {
    const email = 'factor@example.com';
    const { headers } = await register(email);
    const [code] = (await turnOnFactor(api, headers)).recovery_codes;
    const complete = (mfa_token: string) => api.post('/auth/login/', { mfa_token, code });

    expect(await complete(await tokenFor(email))).toBeError('TOKEN_NOT_VALID');
    expect(await complete((await login(email, PASSWORD)).body.mfa_token)).toHaveStatus(200);
  });

  it('removes what was added while the address was not verified, also after it was', async () => {
    const email = 'late@example.com';
    const { id, headers } = await register(email);
    await addIdentity(id);
    await turnOnFactor(api, headers);
    const passkey = (name: string) =>
      api.rows.execute(
        `INSERT INTO passkeys (account_id, credential_id, public_key, counter, transports, name, created_at)
         VALUES (:id, :credential, 'x', 0, '[]', :name, '2026-01-01T00:00:00.000Z')`,
        { id, credential: `${name} ${id}`, name },
      );
    await passkey('Stranger');
    expect((await api.get('/auth/mfa/', headers)).body.data).toMatchObject({ totp: true, passkeys: 1 });
    await api.accounts.admin().verifyEmail(email);
    await passkey('Owner');

    expect(await confirm(await tokenFor(email))).toHaveStatus(200);

    expect(await identities(id)).toBe(0);
    const { access } = await api.accounts.login(email, NEW_PASSWORD);
    expect((await api.get('/auth/passkeys/', bearer(access))).body.data).toEqual([
      expect.objectContaining({ name: 'Owner' }),
    ]);
    for (const subject of ['A passkey was removed', 'A way to log in was removed', 'Two-step login is off'])
      await until('the owner is told', () => mails.to(email).some(({ bytes }) => bytes.includes(subject)));
    // What was added while it was verified survives the next reset.
    api.moveClock(61_000);
    expect(await confirm(await tokenFor(email), PASSWORD)).toHaveStatus(200);
    const again = await api.accounts.login(email);
    expect((await api.get('/auth/passkeys/', bearer(again.access))).body.data).toHaveLength(1);
  });

  it('removes what was added before the account got this address', async () => {
    const { id, headers } = await register('evil@example.com');
    await api.accounts.admin().verifyEmail('evil@example.com');
    await addIdentity(id);
    const { secret } = await turnOnFactor(api, headers);
    api.moveClock(60_000);
    const change = { new_email: 'misled@example.com', password: PASSWORD, code: totpCode(secret, 60_000) };
    expect(await api.post('/auth/email/change/', change, headers)).toHaveStatus(202);
    const token = tokenIn(await mails.next('misled@example.com'));
    expect(await api.post('/auth/email/change/confirm/', { token })).toHaveStatus(200);

    expect(await confirm(await tokenFor('misled@example.com'))).toHaveStatus(200);

    expect(await identities(id)).toBe(0);
    expect(await api.accounts.login('misled@example.com', NEW_PASSWORD)).toHaveProperty('access');
  });

  it('of an account with a verified address keeps its linked identities, and is told of its API keys', async () => {
    const { id, headers } = await register('linked@example.com');
    await api.accounts.admin().verifyEmail('linked@example.com');
    await addIdentity(id);
    expect(await api.post('/auth/api-keys/', { name: 'A', scope: 'read' }, headers)).toHaveStatus(201);
    await mails.nextWith('linked@example.com', 'An API key was created');

    expect(await confirm(await tokenFor('linked@example.com'))).toHaveStatus(200);

    expect(await identities(id)).toBe(1);
    await mails.nextWith('linked@example.com', 'An API key was deleted');
  });

  it('succeeds for exactly one of 50 requests with one token', async () => {
    await register('fifty@example.com');
    const token = await tokenFor('fifty@example.com');

    const replies = await times(50, (n) =>
      // From different clients, because each one may use only a share of the password hashing.
      patiently(() =>
        api.post(
          '/auth/password/reset/confirm/',
          { token, new_password: `password number ${n}` },
          { 'x-forwarded-for': `203.0.113.${n}` },
        ),
      ),
    );

    expect([count(replies, 200), count(replies, 400)]).toEqual([1, 49]);
    const winner = replies.findIndex(({ status }) => status === 200);
    await api.accounts.login('fifty@example.com', `password number ${winner}`);
  });

  it('at the same time as a change of password: exactly one succeeds', async () => {
    for (let round = 0; round < 4; round++) {
      const email = `both${round}@example.com`;
      const { headers } = await register(email);
      const token = await tokenFor(email);
      const change = { old_password: PASSWORD, new_password: 'a changed password' };

      const [reset, changed] = await Promise.all([
        confirm(token),
        api.post('/auth/change-password/', change, headers),
      ]);

      // 401 where the reset had ended the login before it was looked at.
      expect(['200, 400', '200, 401', '400, 200']).toContain(`${reset.status}, ${changed.status}`);
      await api.accounts.login(email, reset.status === 200 ? NEW_PASSWORD : 'a changed password');
    }
  });

  it('at the same time as a change of e-mail: the password is that of the reset, if it succeeded', async () => {
    for (let round = 0; round < 4; round++) {
      const email = `mail${round}@example.com`;
      const { headers } = await register(email);
      // The address has just got a mail, and would get no notice within a minute.
      api.moveClock((round + 1) * 61_000);
      await api.post('/auth/email/change/', { new_email: `new${email}`, password: PASSWORD }, headers);
      const emailToken = tokenIn(await mails.next(`new${email}`));
      await mails.next(email);
      const token = await tokenFor(email);

      const [reset, changed] = await Promise.all([
        confirm(token),
        api.post('/auth/email/change/confirm/', { token: emailToken }),
      ]);

      // Each invalidates the token of the other.
      expect([reset.status, changed.status].toSorted((a, b) => a - b)).toEqual([200, 400]);
      await api.accounts.login(
        changed.status === 200 ? `new${email}` : email,
        reset.status === 200 ? NEW_PASSWORD : PASSWORD,
      );
    }
  });

  it('at the same time as a deactivation or a deletion leaves no login possible', async () => {
    for (const [name, end] of [
      ['leaver', (email: string) => api.accounts.admin().setActive(email, false)],
      ['gone', (email: string) => api.accounts.admin().delete(email)],
    ] as const) {
      const email = `${name}@example.com`;
      await register(email);
      const token = await tokenFor(email);

      const [reset] = await Promise.all([confirm(token), end(email)]);

      expect([200, 400]).toContain(reset.status);
      expect(await login(email, NEW_PASSWORD)).toBeError('UNAUTHENTICATED');
      expect(await confirm(token)).toBeError('INVALID_CODE');
    }
  });

  it('at the same time as logins ends all logins with the old password', async () => {
    const email = 'logins@example.com';
    await register(email);
    const token = await tokenFor(email);

    const [reset, ...logins] = await Promise.all([
      confirm(token),
      ...Array.from({ length: 10 }, () => login(email, PASSWORD)),
    ]);

    expect(reset).toHaveStatus(200);
    for (const { body } of logins.filter(({ status }) => status === 200)) {
      expect(await api.post('/auth/refresh/', body)).toBeError('TOKEN_NOT_VALID');
    }
  });
});
