import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import argon2 from 'argon2';
import { Purger } from '../src/platform/jobs/purger.js';
import { PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { Receiver } from './support/receiver.js';
import { ANY_STORE } from './support/stores.js';

/** An address with a domain of 249 characters. */
const ofLength = (length: number): string => `${'a'.repeat(length - 250)}@${'a.'.repeat(119)}example.com`;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('passwords', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
  });
  afterAll(() => api.stop());

  const login = (email: string, password: string) => api.post('/auth/login/', { email, password });
  it('are the same in composed and decomposed form, and with other spaces', async () => {
    await api.accounts.register('nfc@example.com', { password: 'caf\u00e9 \u00fcber' });
    expect(await login('nfc@example.com', 'cafe\u0301\u00a0u\u0308ber')).toHaveStatus(200);
    expect(await login('nfc@example.com', 'cafe uber')).toBeError('UNAUTHENTICATED');
  });

  it('are counted after the composition', async () => {
    const register = (password: string) =>
      api.post('/auth/register/', { email: 'length@example.com', name: 'A', password });
    expect(await register('e\u0301'.repeat(5))).toBeError('VALIDATION_ERROR', ['password']);
    expect(await register('e\u0301'.repeat(1025))).toBeError('VALIDATION_ERROR', ['password']);
    expect(await register('e\u0301'.repeat(1024))).toHaveStatus(201);
  });

  it.each([
    ['right', 'cafe\u0301\u00a0u\u0308ber', 200],
    ['wrong', 'wrong\u00a0password', 401],
  ])('are compared once, as they are stored, when they are %s', async (which, password, status) => {
    const email = `once.${which}@example.com`;
    await api.accounts.register(email, { password: 'caf\u00e9 \u00fcber' });
    const [compare, hash] = [jest.spyOn(argon2, 'verify'), jest.spyOn(argon2, 'hash')];

    expect(await login(email, password)).toHaveStatus(status);

    expect(compare).toHaveBeenCalledTimes(1);
    expect(hash).not.toHaveBeenCalled();
    for (const spy of [compare, hash]) spy.mockRestore();
  });
});

describe('texts of 60 kB in calls of accounts', () => {
  let api: TestApi;
  let headers: Record<string, string>;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
    headers = await api.accounts.logInNew('ada@example.com');
  });
  afterAll(() => api.stop());

  const marks = `a${'\u0301\u0316'.repeat(14_000)}`;
  const email = `${marks}@b.co`;
  const atHost = `ada@${marks}.co`;
  const ada = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };

  it.each([
    ['login/', { ...ada, email }, 401],
    ['login/', { ...ada, email: atHost }, 401],
    ['login/', { ...ada, password: marks }, 401],
    ['session/', { ...ada, password: marks }, 401],
    ['email/resend/', { ...ada, email }, 401],
    ['email/resend/', { ...ada, password: marks }, 401],
    ['register/', { ...ada, email }, 422],
    ['register/', { ...ada, password: marks }, 422],
    ['password/reset/', { email }, 422],
    ['change-password/', { old_password: marks, new_password: PASSWORD }, 400],
    ['change-password/', { old_password: PASSWORD, new_password: marks }, 422],
    ['email/change/', { new_email: email, password: PASSWORD }, 422],
    ['email/change/', { new_email: 'new@example.com', password: marks }, 400],
    ['mfa/totp/', { password: marks }, 400],
  ])('are never normalized: %s', async (path, body, status) => {
    const normalized = jest.spyOn(String.prototype, 'normalize');
    const anonymous = path === 'email/resend/';
    const reply = await api.post(`/auth/${path}`, body, anonymous ? {} : headers);
    const longest = Math.max(0, ...normalized.mock.contexts.map((text) => String(text).length));
    normalized.mockRestore();

    expect(reply).toHaveStatus(status);
    expect(longest).toBeLessThan(5000);
  });

  it('count as failed logins, as every wrong password', async () => {
    await api.accounts.register('long@example.com');
    const login = (password: string) => api.post('/auth/login/', { email: 'long@example.com', password });
    for (let n = 0; n < 20; n++) expect(await login('x'.repeat(50_000))).toBeError('UNAUTHENTICATED');
    expect(await login(PASSWORD)).toBeError('RATE_LIMITED');
  });
});

describe('PASSWORD_BREACH_URL', () => {
  let api: TestApi;
  let service: Receiver;
  const leaked = createHash('sha1').update('leaked password').digest('hex').toUpperCase();
  beforeAll(async () => {
    service = await new Receiver().start();
    api = await startApi(ANY_STORE, { PASSWORD_BREACH_URL: `${service.url}/range/` });
  });
  afterAll(async () => {
    await api.stop();
    await service.stop();
  });

  const register = (email: string, password: string) =>
    api.post('/auth/register/', { email, name: 'Ada', password });

  it('refuses a password that the service lists, and sends five digits of its hash only', async () => {
    service.behaviour = (response) =>
      response.end(`${'0'.repeat(35)}:5\r\n${leaked.slice(5)}:1234\r\n${'F'.repeat(35)}:0`);
    const reply = await register('a@example.com', 'leaked password');
    expect(reply).toBeError('VALIDATION_ERROR', ['password']);
    expect(reply.body.error.message).toContain('leak');
    expect(service.delivered.map(({ path }) => path)).toEqual([`/range/${leaked.slice(0, 5)}`]);
    expect(await register('b@example.com', 'another password')).toHaveStatus(201);
    expect(service.delivered).toHaveLength(2);
  });

  it('refuses nothing for a padded line, an error, a redirect, or a service that does not respond', async () => {
    const behaviours: Receiver['behaviour'][] = [
      (response) => response.end(`${leaked.slice(5)}:0`),
      (response) => response.writeHead(500).end(),
      (response) => response.writeHead(302, { location: '/' }).end(),
      () => undefined,
      (response) => response.end(`${leaked.slice(5)}:1\r\n${'x'.repeat(1_000_000)}`),
    ];
    for (const [n, behaviour] of behaviours.entries()) {
      service.behaviour = behaviour;
      expect(await register(`c${n}@example.com`, 'leaked password')).toHaveStatus(201);
    }
  });
});

onEach('e-mail addresses', {}, ({ api }) => {
  const refused = [
    ['compatibility letters', '\uff41da@example.com'],
    ['a ligature', 'e\ufb03cient@example.com'],
    ['decomposed letters', 'e\u0301te\u0301@example.com'],
    ['a zero-width space', 'a\u200bda@example.com'],
    ['a soft hyphen', 'a\u00adda@example.com'],
    ['a bidirectional override', 'a\u202eda@example.com'],
    ['an encoded word', '=?utf-8?q?ada?=@example.com'],
    ['quotes', '"a da"@example.com'],
    ['quotes that mailers read as two mailboxes', '"a>,<b@evil.example"@example.com'],
    ['another spelling of a mailbox', '"v\\ictim"@example.com'],
    ['255 characters', ofLength(255)],
  ] as const;

  it.each(refused)('that look like others are refused: %s', async (_, email) => {
    const body = { email, name: 'Ada', password: PASSWORD };
    expect(await api.post('/auth/register/', body)).toBeError('VALIDATION_ERROR', ['email']);
    expect(await api.post('/auth/login/', { email, password: PASSWORD })).toBeError('UNAUTHENTICATED');
  });

  it('are refused in a change of address, and by operators', async () => {
    const headers = await api.accounts.logInNew('change@example.com');
    for (const [, new_email] of refused) {
      const reply = await api.post('/auth/email/change/', { new_email, password: PASSWORD }, headers);
      expect(reply).toBeError('VALIDATION_ERROR', ['new_email']);
      const changed = api.accounts.admin().changeEmail('change@example.com', new_email);
      await expect(changed).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    }
  });

  it('may have letters of any script', async () => {
    for (const email of ['gr\u00fcn@example.com', '\u0430\u0434\u0430@example.com']) {
      await api.accounts.register(email);
      expect(await api.accounts.login(email.toUpperCase())).toHaveProperty('access');
    }
  });

  it('may have 254 characters', async () => {
    expect(await api.accounts.register(ofLength(254))).toMatchObject({ email: ofLength(254) });
  });

  it.each(['\uff50lain@example.com', '"pl ain"@example.com'])(
    'of existing accounts stay usable for a login and a reset: %s',
    async (email) => {
      await api.accounts.register('plain@example.com');
      await api.rows.execute(
        `UPDATE accounts SET email = :email, email_key = :email WHERE email = 'plain@example.com'`,
        {
          email,
        },
      );
      expect(await api.accounts.login(email)).toHaveProperty('access');
      expect(await api.post('/auth/password/reset/', { email })).toHaveStatus(202);
    },
  );
});

describe('REGISTRATION=closed', () => {
  it('rejects registrations, and leaves accounts to operators', async () => {
    const api = await startApi(ANY_STORE, { REGISTRATION: 'closed' });
    const body = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    expect(await api.post('/auth/register/', body)).toBeError('FORBIDDEN');
    expect(await api.rows.all('SELECT id FROM accounts')).toEqual([]);
    await api.stop();
  });
});

onEach('accounts that never verify their e-mail', { servers: MAILS }, ({ api, mails }) => {
  const emails = async () =>
    (await api.rows.all<{ email: string }>('SELECT email FROM accounts ORDER BY id')).map(
      ({ email }) => email,
    );

  it('are deleted 7 days after a registration that required it, and others never', async () => {
    await api.accounts.register('before@example.com');
    await api.restart({ requireVerifiedEmail: true });
    for (const name of ['squatter', 'verified', 'staff']) await api.accounts.register(`${name}@example.com`);
    await api.accounts.admin().setStaff('staff@example.com', true);
    const token = tokenIn(await mails.next('verified@example.com'));
    expect(await api.post('/auth/email/verify/', { token })).toHaveStatus(200);

    api.moveClock(7 * DAY - MINUTE);
    await api.app.get(Purger).purge();
    expect(await emails()).toHaveLength(4);
    api.moveClock(7 * DAY + MINUTE);
    await api.app.get(Purger).purge();

    expect(await emails()).toEqual(['before@example.com', 'verified@example.com', 'staff@example.com']);
    await api.accounts.register('squatter@example.com');
    await api.restart({ requireVerifiedEmail: false });
    api.moveClock(30 * DAY);
    await api.app.get(Purger).purge();
    expect(await emails()).toContain('squatter@example.com');
  });
});
