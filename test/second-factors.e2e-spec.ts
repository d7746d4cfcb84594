import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { Authenticated, LoginSteps } from '../src/auth/login/login-steps.js';
import { LoginCodes } from '../src/auth/social/login-codes.js';
import { TokensService } from '../src/auth/tokens/tokens.service.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD, type Reply, startApi, type TestApi, type Tokens } from './support/api.js';
import { MailServer } from './support/mail-server.js';
import { totpCode, turnOnFactor } from './support/second-factor.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';

const MINUTE = 60_000;
const STEP = 30_000;

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status).toSorted((a, b) => a - b);

describe.each(STORES)('the second factor on %s', (store) => {
  let api: TestApi;
  let mails: MailServer;
  let email: string;
  let tokens: Tokens;
  let headers: Record<string, string>;
  let count = 0;
  /** How far the clock was moved, in milliseconds. */
  let moved = 0;
  beforeAll(async () => {
    mails = await MailServer.start();
    api = await startApi(store, { ...mails.settings, TRUST_PROXY: '127.0.0.1' });
  });
  beforeEach(async () => {
    email = `factor${++count}@example.com`;
    await api.accounts.register(email);
    await api.accounts.admin().verifyEmail(email);
    tokens = await api.accounts.login(email);
    headers = bearer(tokens.access);
  });
  afterEach(() => move(0));
  afterAll(async () => {
    await api.stop();
    await mails.stop();
  });

  function move(milliseconds: number): void {
    moved = milliseconds;
    api.moveClock(milliseconds);
  }

  const codeOf = (secret: string, offset = 0) => totpCode(secret, moved + offset);
  const setUp = async (): Promise<string> => {
    const reply = await api.post('/auth/mfa/totp/', {}, headers);
    expect(reply).toHaveStatus(200);
    return reply.body.secret;
  };
  const confirm = (code: unknown) => api.post('/auth/mfa/totp/confirm/', { code }, headers);
  /** Turns the factor on, and moves the clock to the next step, so that a new code is valid. */
  const turnOn = async (): Promise<{ secret: string; recovery: string[] }> => {
    const secret = await setUp();
    const reply = await confirm(codeOf(secret));
    expect(reply).toHaveStatus(200);
    move(moved + STEP);
    return { secret, recovery: reply.body.recovery_codes };
  };
  const begin = async (path = '/auth/login/'): Promise<string> => {
    const reply = await api.post(path, { email, password: PASSWORD });
    expect(reply).toHaveStatus(200);
    expect(reply.body).toEqual({ mfa_token: expect.stringMatching(/^[\w-]{43}$/), expires_in: 300 });
    expect(reply.headers['set-cookie']).toBeUndefined();
    return reply.body.mfa_token;
  };
  const complete = (mfa_token: string, code: string, on = api) =>
    on.post('/auth/login/', { mfa_token, code });
  const status = async () => (await api.get('/auth/mfa/', headers)).body.data;

  it('is off at first, and needs a login for everything', async () => {
    expect(await status()).toEqual({ totp: false, recovery_codes_left: 0, passkeys: 0 });
    for (const reply of [
      await api.get('/auth/mfa/'),
      await api.post('/auth/mfa/totp/', {}),
      await api.post('/auth/mfa/totp/confirm/', { code: '123456' }),
      await api.post('/auth/mfa/recovery-codes/', { code: '123456' }),
      await api.send({ method: 'DELETE', url: '/auth/mfa/totp/', payload: { code: '123456' } }),
    ]) {
      expect(reply).toBeError('UNAUTHENTICATED');
    }
  });

  it('is off until a code confirms it, and then ends the other logins and notifies the owner', async () => {
    const other = await api.accounts.login(email);
    const { body } = await api.post('/auth/mfa/totp/', {}, headers);
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
    const uri = new URL(body.uri);
    expect(uri.href).toMatch(/^otpauth:\/\/totp\//);
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      secret: body.secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    expect((await status()).totp).toBe(false);
    expect(await api.accounts.login(email)).toHaveProperty('access');

    expect(await confirm('000000')).toBeError('INVALID_CODE');
    const reply = await confirm(codeOf(body.secret));

    expect(reply).toHaveStatus(200);
    expect(reply.body.recovery_codes).toHaveLength(10);
    expect(new Set(reply.body.recovery_codes).size).toBe(10);
    expect(await status()).toEqual({ totp: true, recovery_codes_left: 10, passkeys: 0 });
    expect(await api.get('/auth/me/', headers)).toHaveStatus(200);
    expect(await api.get('/auth/me/', bearer(other.access))).toBeError('TOKEN_NOT_VALID');
    await mails.nextWith(email, 'Two-step login is on');
    expect(await api.post('/auth/mfa/totp/', {}, headers)).toBeError('CONFLICT');
    expect(await confirm(codeOf(body.secret, STEP))).toBeError('INVALID_CODE');
  });

  it('is confirmed with the secret of the last call', async () => {
    const [first, second] = [await setUp(), await setUp()];
    expect(first).not.toBe(second);
    expect(await confirm(codeOf(first))).toBeError('INVALID_CODE');
    expect(await confirm(codeOf(second))).toHaveStatus(200);
  });

  it('stores neither the secret nor the recovery codes as text', async () => {
    const { secret, recovery } = await turnOn();
    const rows = JSON.stringify([
      await api.rows.all('SELECT * FROM totp_factors'),
      await api.rows.all('SELECT * FROM one_time_secrets'),
    ]);
    for (const text of [secret, ...recovery]) expect(rows).not.toContain(text);
    expect(rows).toContain('$aes-256-gcm$v1$');
  });

  it('divides a login by password into two steps', async () => {
    const { secret } = await turnOn();

    const reply = await complete(await begin(), codeOf(secret));

    expect(reply).toHaveStatus(200);
    expect(Object.keys(reply.body).toSorted()).toEqual(['access', 'refresh']);
    expect(await api.get('/auth/me/', bearer(reply.body.access))).toHaveStatus(200);
  });

  it('divides the login of a session, and accepts one token on both paths', async () => {
    const { secret, recovery } = await turnOn();
    const session = await api.post('/auth/session/', {
      mfa_token: await begin('/auth/session/'),
      code: codeOf(secret),
    });
    expect(session).toHaveStatus(200);
    expect(session.body.account.email).toBe(email);
    expect(session.headers['set-cookie']).toBeDefined();

    expect(await complete(await begin('/auth/session/'), recovery[0]!)).toHaveStatus(200);
    const crossed = { mfa_token: await begin('/auth/login/'), code: recovery[1]! };
    expect(await api.post('/auth/session/', crossed)).toHaveStatus(200);
  });

  it('accepts a code of the step before and after, once, and none of earlier steps afterwards', async () => {
    const { secret } = await turnOn();
    move(moved + 10 * STEP);
    // Otherwise a step may end between a code and its check.
    const toStartOfStep = () => move(moved + STEP - ((Date.now() + moved) % STEP));
    for (const offset of [-2 * STEP, 2 * STEP]) {
      toStartOfStep();
      expect(await complete(await begin(), codeOf(secret, offset))).toBeError('UNAUTHENTICATED');
    }
    toStartOfStep();
    expect(await complete(await begin(), codeOf(secret, -STEP))).toHaveStatus(200);
    expect(await complete(await begin(), codeOf(secret, STEP))).toHaveStatus(200);
    for (const offset of [STEP, 0, -STEP]) {
      expect(await complete(await begin(), codeOf(secret, offset))).toBeError('UNAUTHENTICATED');
    }
  });

  it('accepts each recovery code once, in any letter case', async () => {
    const { recovery } = await turnOn();
    const [first, second] = recovery as [string, string];
    expect(await complete(await begin(), first.toUpperCase().replaceAll('-', ' '))).toHaveStatus(200);
    expect(await complete(await begin(), first)).toBeError('UNAUTHENTICATED');
    expect((await status()).recovery_codes_left).toBe(9);
    expect(await complete(await begin(), second)).toHaveStatus(200);
  });

  it('voids a token after its use, 5 wrong codes, 5 minutes, and a change of the password', async () => {
    const { secret, recovery } = await turnOn();
    const used = await begin();
    expect(await complete(used, recovery[0]!)).toHaveStatus(200);
    expect(await complete(used, recovery[1]!)).toBeError('TOKEN_NOT_VALID');

    const guessed = await begin();
    for (let n = 0; n < 5; n++) expect(await complete(guessed, '000000')).toBeError('UNAUTHENTICATED');
    expect(await complete(guessed, recovery[1]!)).toBeError('TOKEN_NOT_VALID');

    const late = await begin();
    move(moved + 5 * MINUTE + 1000);
    expect(await complete(late, recovery[1]!)).toBeError('TOKEN_NOT_VALID');
    await api.app.get(Purger).purge();
    const left =
      "SELECT 1 FROM one_time_secrets WHERE purpose = 'second-step' AND account_id = (SELECT id FROM accounts WHERE email = :email)";
    expect(await api.rows.all(left, { email })).toEqual([]);

    const before = await begin();
    const change = { old_password: PASSWORD, new_password: 'another password' };
    const { access } = (await complete(await begin(), codeOf(secret))).body;
    expect(await api.post('/auth/change-password/', change, bearer(access))).toHaveStatus(200);
    expect(await complete(before, recovery[2]!)).toBeError('TOKEN_NOT_VALID');
    expect(await complete('x'.repeat(43), recovery[2]!)).toBeError('TOKEN_NOT_VALID');
  });

  it('lets one of 20 concurrent second steps succeed, with one code or with one token', async () => {
    const { secret, recovery } = await turnOn();
    const token = await begin();
    const replies = await Promise.all(Array.from({ length: 20 }, () => complete(token, codeOf(secret))));
    expect(statuses(replies)).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);

    const several = await Promise.all(Array.from({ length: 10 }, () => begin()));
    const again = await Promise.all(several.map((each) => complete(each, recovery[0]!)));
    expect(statuses(again)).toEqual([200, ...Array.from({ length: 9 }, () => 401)]);
  });

  it('tries at most 5 codes with one token, also concurrently', async () => {
    const { recovery } = await turnOn();
    const token = await begin();
    const replies = await Promise.all(Array.from({ length: 12 }, () => complete(token, '000000')));
    expect(replies.filter(({ body }) => body.error.code === 'UNAUTHENTICATED')).toHaveLength(5);
    expect(await complete(token, recovery[0]!)).toBeError('TOKEN_NOT_VALID');
  });

  it('counts wrong codes of all calls as failed logins, which only a complete login clears', async () => {
    const { secret } = await turnOn();
    // Of the app, at most ten may be wrong.
    const wrong = (n: number) => (n % 3 === 0 ? '000000' : 'no-such-code');
    for (let n = 0; n < 3; n++) {
      const token = await begin();
      for (let m = 0; m < 5; m++) expect(await complete(token, wrong(m))).toBeError('UNAUTHENTICATED');
    }
    for (let n = 0; n < 4; n++) {
      const reply = await api.post('/auth/mfa/recovery-codes/', { code: wrong(n) }, headers);
      expect(reply).toBeError('INVALID_CODE');
    }
    // 19 failures; the right password clears none of them.
    const token = await begin();
    expect(await complete(token, '000000')).toBeError('UNAUTHENTICATED');

    expect(await complete(token, codeOf(secret))).toBeError('RATE_LIMITED');
    expect(await api.post('/auth/login/', { email, password: PASSWORD })).toBeError('RATE_LIMITED');
    move(moved + 6 * MINUTE);
    expect(await complete(await begin(), codeOf(secret))).toHaveStatus(200);
  });

  describe('wrong codes of the app', () => {
    const from = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n}` });
    /** Sends wrong codes, each from another address. */
    const guess = async (times: number): Promise<Reply[]> => {
      const replies: Reply[] = [];
      for (let n = 0; n < times; n++) {
        const mfa_token = await begin();
        replies.push(await api.post('/auth/login/', { mfa_token, code: '000000' }, from(n)));
      }
      return replies;
    };

    it('are ten within an hour for an account, from whatever address, and then right ones are 429, too', async () => {
      const { secret, recovery } = await turnOn();
      for (const reply of await guess(10)) expect(reply).toBeError('UNAUTHENTICATED');

      for (const code of ['000000', codeOf(secret), codeOf(secret).replace(/^.../, '$& ')]) {
        const reply = await complete(await begin(), code);
        expect(reply).toBeError('RATE_LIMITED');
        const wait = Number(reply.headers['retry-after']);
        expect(wait).toBeGreaterThan(3500);
        expect(wait).toBeLessThanOrEqual(3600);
      }
      // What was not looked at is no attempt of the token.
      const patient = await begin();
      for (let n = 0; n < 6; n++) expect(await complete(patient, codeOf(secret))).toBeError('RATE_LIMITED');
      expect(await complete(patient, recovery[1]!)).toHaveStatus(200);
      const renew = () => api.post('/auth/mfa/recovery-codes/', { code: codeOf(secret) }, headers);
      expect(await renew()).toBeError('RATE_LIMITED');
      expect(await complete(await begin(), recovery[0]!)).toHaveStatus(200);
      expect(await complete(await begin(), codeOf(secret))).toBeError('RATE_LIMITED');

      move(moved + 59 * MINUTE);
      expect(await complete(await begin(), codeOf(secret))).toBeError('RATE_LIMITED');
      move(moved + 2 * MINUTE);
      expect(await complete(await begin(), codeOf(secret))).toHaveStatus(200);
    });

    it('are counted in parallel as in sequence', async () => {
      await turnOn();
      const begun = await Promise.all(Array.from({ length: 15 }, () => begin()));
      const replies = await Promise.all(
        begun.map((mfa_token, n) => api.post('/auth/login/', { mfa_token, code: '000000' }, from(n))),
      );
      expect(statuses(replies)).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
    });

    it('are forgotten after a right one, but not after a recovery code', async () => {
      const { secret, recovery } = await turnOn();
      await guess(9);
      expect(await complete(await begin(), codeOf(secret))).toHaveStatus(200);
      await guess(9);
      expect(await complete(await begin(), recovery[0]!)).toHaveStatus(200);
      expect(statuses(await guess(2))).toEqual([401, 429]);
    });

    it('do not include recovery codes', async () => {
      const { secret } = await turnOn();
      for (let n = 0; n < 12; n++) {
        const mfa_token = await begin();
        const reply = await api.post('/auth/login/', { mfa_token, code: 'no-such-code' }, from(n));
        expect(reply).toBeError('UNAUTHENTICATED');
      }
      expect(await complete(await begin(), codeOf(secret))).toHaveStatus(200);
    });

    it('are reported to the owner after the fifth', async () => {
      await turnOn();
      const recorded = async () => {
        const sql = `SELECT count(*) AS n FROM mails WHERE owner = (SELECT 'account ' || id FROM accounts WHERE email = :email) AND data LIKE '%codes-wrong%'`;
        return (await api.rows.all<{ n: number }>(sql, { email }))[0]!.n;
      };
      await guess(4);
      expect(await recorded()).toBe(0);
      await guess(3);
      await mails.nextWith(email, 'Wrong codes were entered for your account');
      const sent = mails.to(email).filter(({ bytes }) => bytes.includes('Wrong codes were entered'));
      expect(sent).toHaveLength(1);
      await until('no other is recorded', async () => (await recorded()) === 0);
    });
  });

  it('stops a login whose first step came before it was on, and ends one-time codes', async () => {
    const accounts = api.app.get(AccountsService, { strict: false });
    const before = (await accounts.findByEmail(email))!;
    const code = await api.app.get(LoginCodes, { strict: false }).issue(before);
    const client = { address: '127.0.0.1', agent: '' };
    await turnOn();

    const opened = api.app.get(TokensService, { strict: false }).open(new Authenticated(before), client);

    await expect(opened).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await api.post('/auth/social/exchange/', { code })).toBeError('INVALID_CODE');
  });

  it('causes the usual error if the account is deleted between the steps', async () => {
    const { recovery } = await turnOn();
    const token = await begin();
    const accounts = api.app.get(AccountsService, { strict: false });
    const account = (await accounts.findByEmail(email))!;
    await api.accounts.admin().delete(email);

    const next = api.app.get(LoginSteps, { strict: false }).after(account);

    await expect(next).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await complete(token, recovery[0]!)).toBeError('TOKEN_NOT_VALID');
  });

  it('is turned off by a code or a recovery code, with a recent login', async () => {
    const { recovery } = await turnOn();
    const remove = (payload: object, caller = headers) =>
      api.send({ method: 'DELETE', url: '/auth/mfa/totp/', payload, headers: caller });
    expect(await remove({ code: '000000' })).toBeError('INVALID_CODE');
    move(moved + 6 * MINUTE);
    expect(await remove({ code: recovery[0] })).toBeError('FORBIDDEN');
    const wrong = await remove({ code: recovery[0], password: 'wrong' });
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    expect(await remove({ code: '000000', password: PASSWORD })).toBeError('INVALID_CODE');
    // A wrong code does not make the login recent.
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');

    expect(await remove({ code: recovery[0], password: PASSWORD })).toHaveStatus(204);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);

    expect(await status()).toEqual({ totp: false, recovery_codes_left: 0, passkeys: 0 });
    expect(await api.accounts.login(email)).toHaveProperty('access');
    expect(await remove({ code: recovery[1] })).toBeError('INVALID_CODE');
  });

  it('replaces the recovery codes with a code of the app, not with a recovery code', async () => {
    const { secret, recovery } = await turnOn();
    const renew = (code: string) => api.post('/auth/mfa/recovery-codes/', { code }, headers);
    expect(await renew(recovery[0]!)).toBeError('INVALID_CODE');

    const { body } = await renew(codeOf(secret));

    expect(body.recovery_codes).toHaveLength(10);
    expect(await complete(await begin(), recovery[0]!)).toBeError('UNAUTHENTICATED');
    expect(await complete(await begin(), body.recovery_codes[0])).toHaveStatus(200);
  });

  it('is checked, which makes the login recent, when its recovery codes are replaced or it is turned off', async () => {
    const { secret } = await turnOn();
    move(moved + 4 * MINUTE);
    const renewed = await api.post('/auth/mfa/recovery-codes/', { code: codeOf(secret) }, headers);
    move(moved + 4 * MINUTE);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);
    const [code] = renewed.body.recovery_codes;
    expect(
      await api.send({ method: 'DELETE', url: '/auth/mfa/totp/', payload: { code }, headers }),
    ).toHaveStatus(204);
    move(moved + 4 * MINUTE);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);
  });

  it('is needed beside the password to make an older login recent', async () => {
    const { secret, recovery } = await turnOn();
    move(moved + 6 * MINUTE);
    const options = (body: object) => api.post('/auth/passkeys/options/', body, headers);
    const key = { name: 'Key', scope: 'write' };

    expect(await options({ password: PASSWORD })).toBeError('FORBIDDEN');
    const createKey = await api.post('/auth/api-keys/', { ...key, password: PASSWORD }, headers);
    expect(createKey).toBeError('FORBIDDEN');
    const renew = await api.post('/auth/mfa/recovery-codes/', { code: codeOf(secret) }, headers);
    expect(renew).toBeError('FORBIDDEN');
    const change = { old_password: PASSWORD, new_password: PASSWORD };
    expect(await api.post('/auth/change-password/', change, headers)).toHaveStatus(200);
    // None of these has made the login recent.
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');
    expect(await options({})).toBeError('FORBIDDEN');

    expect(await options({ password: PASSWORD, code: '000000' })).toBeError('INVALID_CODE');
    const wrong = await options({ password: 'wrong', code: codeOf(secret) });
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    expect(await options({ code: codeOf(secret) })).toBeError('FORBIDDEN');
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');

    expect(await options({ password: PASSWORD, code: codeOf(secret) })).toHaveStatus(200);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);
    move(moved + 6 * MINUTE);
    const created = await api.post(
      '/auth/api-keys/',
      { ...key, password: PASSWORD, code: recovery[0] },
      headers,
    );
    expect(created).toHaveStatus(201);
  });

  it('is needed beside the password for a change of e-mail, and for a deletion', async () => {
    const { recovery } = await turnOn();
    const calls = [
      (code?: string) => {
        const body = { new_email: `new-${email}`, password: PASSWORD, ...(code && { code }) };
        return api.post('/auth/email/change/', body, headers);
      },
      (code?: string) =>
        api.send({
          method: 'DELETE',
          url: '/auth/me/',
          payload: { password: PASSWORD, ...(code && { code }) },
          headers,
        }),
    ] as const;
    for (const [n, call] of calls.entries()) {
      expect(await call()).toBeError('VALIDATION_ERROR', ['code']);
      expect(await call('no-such-code')).toBeError('INVALID_CODE');
      expect(await call(recovery[n])).toHaveStatus(n === 0 ? 202 : 204);
    }
  });

  it('is not skipped by the code of a social login from before it was turned on', async () => {
    const account = await api.app.get(AccountsService).findByEmail(email);
    await turnOn();
    const code = await api.app.get(LoginCodes, { strict: false }).issue(account!, undefined);

    expect(await api.post('/auth/social/exchange/', { code })).toBeError('INVALID_CODE');
  });

  it('is void ten minutes after its secret was created, unless a code has confirmed it', async () => {
    const secret = await setUp();
    move(10 * MINUTE + 1000);
    expect(await confirm(codeOf(secret))).toBeError('INVALID_CODE');
    move(10 * MINUTE - 1000);
    expect(await confirm(codeOf(secret))).toHaveStatus(200);
    move(30 * MINUTE);
    expect(await complete(await begin(), codeOf(secret))).toHaveStatus(200);
  });

  it('has recovery codes of at least 112 random bits', async () => {
    const { recovery } = await turnOn();
    // In Base32, each letter has five bits.
    for (const code of recovery) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){5}$/);
  });

  it('does not make an older login recent by its first code, which proves nothing about its owner', async () => {
    const secret = await setUp();
    move(6 * MINUTE);
    expect(await confirm(codeOf(secret))).toHaveStatus(200);
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');
  });

  it('needs a recent login to begin', async () => {
    move(5 * MINUTE + 1000);
    expect(await api.post('/auth/mfa/totp/', {}, headers)).toBeError('FORBIDDEN');
    expect(await api.post('/auth/mfa/totp/', { password: PASSWORD }, headers)).toHaveStatus(200);
    // The password has made the login recent.
    expect(await api.post('/auth/mfa/totp/', {}, headers)).toHaveStatus(200);
  });

  it('names missing and badly typed fields', async () => {
    for (const code of [undefined, null, 5, ['1'], { a: 1 }, 'a\0']) {
      expect(await confirm(code)).toBeError('VALIDATION_ERROR', ['code']);
      const reply = await api.post('/auth/login/', { mfa_token: 'x', code });
      expect(reply).toBeError('VALIDATION_ERROR', ['code']);
    }
    expect(await api.post('/auth/login/', { mfa_token: 5, code: '1' })).toBeError('VALIDATION_ERROR', [
      'mfa_token',
    ]);
    expect(await api.post('/auth/mfa/totp/', { password: 5 }, headers)).toBeError('VALIDATION_ERROR', [
      'password',
    ]);
  });

  it('is deleted with the account, and taken away by operators', async () => {
    await turnOn();
    await api.accounts.admin().resetFactors(email);
    expect(await api.accounts.login(email)).toHaveProperty('access');
    await turnOn();
    await begin();
    await api.accounts.admin().delete(email);
    const left = await api.rows.all(
      'SELECT 1 FROM totp_factors WHERE account_id NOT IN (SELECT id FROM accounts)',
    );
    expect(left).toEqual([]);
  });
});

describe('the second factor on two replicas', () => {
  it('accepts one code and one token once', async () => {
    const api = await startApi('PostgreSQL');
    const replica = await api.replica();
    const headers = await api.accounts.logInNew('ada@example.com');
    const { secret } = await turnOnFactor(api, headers);
    const login = { email: 'ada@example.com', password: PASSWORD };
    const { mfa_token } = (await api.post('/auth/login/', login)).body;

    const next = totpCode(secret, STEP);
    const replies = await Promise.all(
      [api, replica, api, replica].map((on) => on.post('/auth/login/', { mfa_token, code: next })),
    );

    expect(statuses(replies)).toEqual([200, 401, 401, 401]);
    await replica.stop();
    await api.stop();
  });
});
