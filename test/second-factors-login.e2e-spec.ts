import { beforeEach, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { LoginSteps } from '../src/accounts/login/login-steps.js';
import { LoginCodes } from '../src/accounts/social/login-codes.js';
import { TokensService } from '../src/accounts/tokens/tokens.service.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply, startApi } from './support/api.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { FactorOwner, STEP } from './support/second-factor.js';
import { until } from './support/until.js';
import { Authenticated } from '../src/accounts/sessions.service.js';

const MINUTE = 60_000;

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status).toSorted((a, b) => a - b);

const SETTINGS = { TRUST_PROXY: '127.0.0.1' };
onEach('a login with a second factor', { settings: SETTINGS, servers: MAILS }, ({ api, mails }) => {
  let owner: FactorOwner;
  let email: string;
  let headers: Record<string, string>;
  beforeEach(async () => {
    owner = await FactorOwner.register(api);
    ({ email, headers } = owner);
  });

  it('divides a login by password into two steps', async () => {
    const { secret } = await owner.turnOn();

    const first = await api.post('/auth/login/', { email, password: PASSWORD });
    const reply = await owner.complete(first.body.mfa_token, owner.codeOf(secret));

    expect(first.body).toEqual({ mfa_token: expect.stringMatching(/^[\w-]{43}$/), expires_in: 300 });
    expect(first.headers['set-cookie']).toBeUndefined();
    expect(reply).toHaveStatus(200);
    expect(Object.keys(reply.body).toSorted()).toEqual(['access', 'refresh']);
    expect(await api.get('/auth/me/', bearer(reply.body.access))).toHaveStatus(200);
  });

  it('rejects the right password of an inactive account as a wrong one', async () => {
    await owner.turnOn();
    const wrong = await api.post('/auth/login/', { email, password: 'wrong' });
    await api.accounts.admin().setActive(email, false);

    for (const path of ['/auth/login/', '/auth/session/']) {
      const reply = await api.post(path, { email, password: PASSWORD });
      expect(reply).toBeError('UNAUTHENTICATED');
      expect(reply.body).toEqual(wrong.body);
    }
  });

  it('divides the login of a session, and accepts one token on both paths', async () => {
    const { secret, recovery } = await owner.turnOn();
    const first = await api.post('/auth/session/', { email, password: PASSWORD });
    expect(first.body).toEqual({ mfa_token: expect.stringMatching(/^[\w-]{43}$/), expires_in: 300 });
    expect(first.headers['set-cookie']).toBeUndefined();
    const second = { mfa_token: first.body.mfa_token, code: owner.codeOf(secret) };
    const session = await api.post('/auth/session/', second);
    expect(session).toHaveStatus(200);
    expect(session.body.account.email).toBe(email);
    expect(session.headers['set-cookie']).toBeDefined();

    expect(await owner.complete(await owner.begin('/auth/session/'), recovery[0]!)).toHaveStatus(200);
    const crossed = { mfa_token: await owner.begin('/auth/login/'), code: recovery[1]! };
    expect(await api.post('/auth/session/', crossed)).toHaveStatus(200);
  });

  it('accepts a code of the step before and after, once, and none of earlier steps afterwards', async () => {
    const { secret } = await owner.turnOn();
    api.advanceClock(10 * STEP);
    // Otherwise a step may end between a code and its check.
    const toStartOfStep = () => api.advanceClock(STEP - (api.now.getTime() % STEP));
    for (const offset of [-2 * STEP, 2 * STEP]) {
      toStartOfStep();
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret, offset))).toBeError(
        'UNAUTHENTICATED',
      );
    }
    toStartOfStep();
    expect(await owner.complete(await owner.begin(), owner.codeOf(secret, -STEP))).toHaveStatus(200);
    expect(await owner.complete(await owner.begin(), owner.codeOf(secret, STEP))).toHaveStatus(200);
    for (const offset of [STEP, 0, -STEP]) {
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret, offset))).toBeError(
        'UNAUTHENTICATED',
      );
    }
  });

  it('accepts each recovery code once, in any letter case', async () => {
    const { recovery } = await owner.turnOn();
    const [first, second] = recovery as [string, string];
    expect(await owner.complete(await owner.begin(), first.toUpperCase().replaceAll('-', ' '))).toHaveStatus(
      200,
    );
    expect(await owner.complete(await owner.begin(), first)).toBeError('UNAUTHENTICATED');
    expect((await owner.status()).recovery_codes_left).toBe(9);
    expect(await owner.complete(await owner.begin(), second)).toHaveStatus(200);
  });

  it('voids a token after its use, 5 wrong codes, 5 minutes, and a change of the password', async () => {
    const { secret, recovery } = await owner.turnOn();
    const used = await owner.begin();
    expect(await owner.complete(used, recovery[0]!)).toHaveStatus(200);
    expect(await owner.complete(used, recovery[1]!)).toBeError('TOKEN_NOT_VALID');

    const guessed = await owner.begin();
    for (let n = 0; n < 5; n++) expect(await owner.complete(guessed, '000000')).toBeError('UNAUTHENTICATED');
    expect(await owner.complete(guessed, recovery[1]!)).toBeError('TOKEN_NOT_VALID');

    const late = await owner.begin();
    api.advanceClock(5 * MINUTE + 1000);
    expect(await owner.complete(late, recovery[1]!)).toBeError('TOKEN_NOT_VALID');
    await api.app.get(Purger).purge();
    const left =
      "SELECT 1 FROM one_time_secrets WHERE purpose = 'second-step' AND account_id = (SELECT id FROM accounts WHERE email = :email)";
    expect(await api.rows.all(left, { email })).toEqual([]);

    const before = await owner.begin();
    const change = { old_password: PASSWORD, new_password: 'another password' };
    const { access } = (await owner.complete(await owner.begin(), owner.codeOf(secret))).body;
    expect(await api.post('/auth/change-password/', change, bearer(access))).toHaveStatus(200);
    expect(await owner.complete(before, recovery[2]!)).toBeError('TOKEN_NOT_VALID');
    expect(await owner.complete('x'.repeat(43), recovery[2]!)).toBeError('TOKEN_NOT_VALID');
  });

  it('lets one of 20 concurrent second steps succeed, with one code, one token, or both', async () => {
    const { secret, recovery } = await owner.turnOn();
    const token = await owner.begin();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => owner.complete(token, owner.codeOf(secret))),
    );
    expect(statuses(replies)).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);

    const several = await Promise.all(Array.from({ length: 10 }, () => owner.begin()));
    const again = await Promise.all(several.map((each) => owner.complete(each, recovery[0]!)));
    expect(statuses(again)).toEqual([200, ...Array.from({ length: 9 }, () => 401)]);

    const last = await owner.begin();
    const codes = recovery.slice(1, 5);
    const mixed = await Promise.all(codes.map((code) => owner.complete(last, code)));
    expect(statuses(mixed)).toEqual([200, 401, 401, 401]);
  });

  it('tries at most 5 codes with one token, also concurrently', async () => {
    const { recovery } = await owner.turnOn();
    const token = await owner.begin();
    const replies = await Promise.all(Array.from({ length: 12 }, () => owner.complete(token, '000000')));
    expect(replies.filter(({ body }) => body.error.code === 'UNAUTHENTICATED')).toHaveLength(5);
    expect(await owner.complete(token, recovery[0]!)).toBeError('TOKEN_NOT_VALID');
  });

  it('counts wrong codes of all calls as failed logins, which only a complete login clears', async () => {
    const { secret } = await owner.turnOn();
    // Of the app, at most ten may be wrong.
    const wrong = (n: number) => (n % 3 === 0 ? '000000' : 'no-such-code');
    for (let n = 0; n < 3; n++) {
      const token = await owner.begin();
      for (let m = 0; m < 5; m++) expect(await owner.complete(token, wrong(m))).toBeError('UNAUTHENTICATED');
    }
    for (let n = 0; n < 4; n++) {
      const reply = await api.post('/auth/mfa/recovery-codes/', { code: wrong(n) }, headers);
      expect(reply).toBeError('INVALID_CODE');
    }
    // 19 failures; the right password clears none of them.
    const token = await owner.begin();
    expect(await owner.complete(token, '000000')).toBeError('UNAUTHENTICATED');

    expect(await owner.complete(token, owner.codeOf(secret))).toBeError('RATE_LIMITED');
    expect(await api.post('/auth/login/', { email, password: PASSWORD })).toBeError('RATE_LIMITED');
    api.advanceClock(6 * MINUTE);
    expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toHaveStatus(200);
  });

  describe('wrong codes of the app', () => {
    const from = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n}` });
    /** Sends wrong codes, each from another address. */
    const guess = async (times: number): Promise<Reply[]> => {
      const replies: Reply[] = [];
      for (let n = 0; n < times; n++) {
        const mfa_token = await owner.begin();
        replies.push(await api.post('/auth/login/', { mfa_token, code: '000000' }, from(n)));
      }
      return replies;
    };

    it('are ten within an hour for an account, from whatever address, and then right ones are 429, too', async () => {
      const { secret, recovery } = await owner.turnOn();
      for (const reply of await guess(10)) expect(reply).toBeError('UNAUTHENTICATED');

      for (const code of ['000000', owner.codeOf(secret), owner.codeOf(secret).replace(/^.../, '$& ')]) {
        const reply = await owner.complete(await owner.begin(), code);
        expect(reply).toBeError('RATE_LIMITED');
        const wait = Number(reply.headers['retry-after']);
        expect(wait).toBeGreaterThan(3500);
        expect(wait).toBeLessThanOrEqual(3600);
      }
      // What was not looked at is no attempt of the token.
      const patient = await owner.begin();
      for (let n = 0; n < 6; n++)
        expect(await owner.complete(patient, owner.codeOf(secret))).toBeError('RATE_LIMITED');
      expect(await owner.complete(patient, recovery[1]!)).toHaveStatus(200);
      const renew = () => api.post('/auth/mfa/recovery-codes/', { code: owner.codeOf(secret) }, headers);
      expect(await renew()).toBeError('RATE_LIMITED');
      expect(await owner.complete(await owner.begin(), recovery[0]!)).toHaveStatus(200);
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toBeError('RATE_LIMITED');

      api.advanceClock(59 * MINUTE);
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toBeError('RATE_LIMITED');
      api.advanceClock(2 * MINUTE);
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toHaveStatus(200);
    });

    it('are counted for an hour from the first one', async () => {
      const { secret } = await owner.turnOn();
      await guess(5);
      api.advanceClock(30 * MINUTE);
      await guess(5);
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toBeError('RATE_LIMITED');
      api.advanceClock(31 * MINUTE);
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toHaveStatus(200);
    });

    it('are counted in parallel as in sequence', async () => {
      await owner.turnOn();
      const begun = await Promise.all(Array.from({ length: 15 }, () => owner.begin()));
      const replies = await Promise.all(
        begun.map((mfa_token, n) => api.post('/auth/login/', { mfa_token, code: '000000' }, from(n))),
      );
      expect(statuses(replies)).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
    });

    it('are forgotten after a right one, but not after a recovery code', async () => {
      const { secret, recovery } = await owner.turnOn();
      await guess(9);
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toHaveStatus(200);
      await guess(9);
      expect(await owner.complete(await owner.begin(), recovery[0]!)).toHaveStatus(200);
      expect(statuses(await guess(2))).toEqual([401, 429]);
    });

    it('do not include recovery codes', async () => {
      const { secret } = await owner.turnOn();
      for (let n = 0; n < 12; n++) {
        const mfa_token = await owner.begin();
        const reply = await api.post('/auth/login/', { mfa_token, code: 'no-such-code' }, from(n));
        expect(reply).toBeError('UNAUTHENTICATED');
      }
      expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toHaveStatus(200);
    });

    it('are reported to the owner after the fifth', async () => {
      await owner.turnOn();
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
    const codes = api.app.get(LoginCodes, { strict: false });
    const code = await codes.issue(before);
    const client = { address: '127.0.0.1', agent: '' };
    await owner.turnOn();
    const late = await codes.issue(before);

    const opened = api.app.get(TokensService, { strict: false }).open(new Authenticated(before), client);

    await expect(opened).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    for (const each of [code, late])
      expect(await api.post('/auth/social/exchange/', { code: each })).toBeError('INVALID_CODE');
  });

  it('causes the usual error if the account is deleted between the steps', async () => {
    const { recovery } = await owner.turnOn();
    const token = await owner.begin();
    const accounts = api.app.get(AccountsService, { strict: false });
    const account = (await accounts.findByEmail(email))!;
    await api.accounts.admin().delete(email);

    const next = api.app.get(LoginSteps, { strict: false }).after(account);

    await expect(next).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await owner.complete(token, recovery[0]!)).toBeError('TOKEN_NOT_VALID');
  });
});

describe('a login with a second factor on two replicas', () => {
  it('accepts one code and one token once', async () => {
    const api = await startApi('PostgreSQL');
    const replica = await api.replica();
    const owner = await FactorOwner.register(api);
    const { secret } = await owner.turnOn();
    const mfa_token = await owner.begin();

    const code = owner.codeOf(secret);
    const replies = await Promise.all(
      [api, replica, api, replica].map((on) => on.post('/auth/login/', { mfa_token, code })),
    );

    expect(statuses(replies)).toEqual([200, 401, 401, 401]);
    await replica.stop();
    await api.stop();
  });
});
