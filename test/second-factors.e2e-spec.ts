import { beforeEach, expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { FactorOwner, STEP } from './support/second-factor.js';

const MINUTE = 60_000;

onEach('the second factor', { servers: MAILS }, ({ api, mails }) => {
  let owner: FactorOwner;
  let email: string;
  let headers: Record<string, string>;
  beforeEach(async () => {
    owner = await FactorOwner.register(api);
    ({ email, headers } = owner);
  });

  it.each(['null', '[]', '"x"', '5'])('is not created with the body %s, which is no object', async (body) => {
    expect(await api.post('/auth/mfa/totp/', body, headers)).toBeError('VALIDATION_ERROR');
    expect(await api.delete('/auth/passkeys/1/', headers, body)).toBeError('VALIDATION_ERROR');
  });

  it('is off until a code confirms it, and then ends the other logins and notifies the owner', async () => {
    expect(await owner.status()).toEqual({ totp: false, recovery_codes_left: 0, passkeys: 0 });
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
    expect((await owner.status()).totp).toBe(false);
    expect(await api.accounts.login(email)).toHaveProperty('access');

    expect(await owner.confirm('000000')).toBeError('INVALID_CODE');
    const reply = await owner.confirm(owner.codeOf(body.secret));

    expect(reply).toHaveStatus(200);
    expect(reply.body.recovery_codes).toHaveLength(10);
    expect(new Set(reply.body.recovery_codes).size).toBe(10);
    expect(await owner.status()).toEqual({ totp: true, recovery_codes_left: 10, passkeys: 0 });
    expect(await api.get('/auth/me/', headers)).toHaveStatus(200);
    expect(await api.get('/auth/me/', bearer(other.access))).toBeError('TOKEN_NOT_VALID');
    await mails.nextWith(email, 'Two-step login is on');
    expect(await api.post('/auth/mfa/totp/', {}, headers)).toBeError('CONFLICT');
    expect(await owner.confirm(owner.codeOf(body.secret, STEP))).toBeError('INVALID_CODE');
  });

  it('is confirmed with the secret of the last call, and then needs another code', async () => {
    const [first, second] = [await owner.setUp(), await owner.setUp()];
    expect(first).not.toBe(second);
    expect(await owner.confirm(owner.codeOf(first))).toBeError('INVALID_CODE');
    const code = owner.codeOf(second);
    expect(await owner.confirm(code)).toHaveStatus(200);
    expect(await owner.complete(await owner.begin(), code)).toBeError('UNAUTHENTICATED');
  });

  it('stores neither the secret nor the recovery codes as text', async () => {
    const { secret, recovery } = await owner.turnOn();
    const rows = JSON.stringify([
      await api.rows.all('SELECT * FROM totp_factors'),
      await api.rows.all('SELECT * FROM one_time_secrets'),
    ]);
    for (const text of [secret, ...recovery]) expect(rows).not.toContain(text);
    expect(rows).toContain('$aes-256-gcm$v1$');
  });

  it('is turned off by a code or a recovery code, with a recent login', async () => {
    const { recovery } = await owner.turnOn();
    const remove = (body: object) => api.delete('/auth/mfa/totp/', headers, body);
    expect(await remove({ code: '000000' })).toBeError('INVALID_CODE');
    api.advanceClock(6 * MINUTE);
    expect(await remove({ code: recovery[0] })).toBeError('FORBIDDEN');
    const wrong = await remove({ code: recovery[0], password: 'wrong' });
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    expect(await remove({ code: '000000', password: PASSWORD })).toBeError('INVALID_CODE');
    // A wrong code does not make the login recent.
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');

    expect(await remove({ code: recovery[0], password: PASSWORD })).toHaveStatus(204);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);

    expect(await owner.status()).toEqual({ totp: false, recovery_codes_left: 0, passkeys: 0 });
    expect(await api.accounts.login(email)).toHaveProperty('access');
    expect(await remove({ code: recovery[1] })).toBeError('INVALID_CODE');
  });

  it('replaces the recovery codes with a code of the app, not with a recovery code', async () => {
    const { secret, recovery } = await owner.turnOn();
    const renew = (code: string) => api.post('/auth/mfa/recovery-codes/', { code }, headers);
    expect(await renew(recovery[0]!)).toBeError('INVALID_CODE');

    const { body } = await renew(owner.codeOf(secret));

    expect(body.recovery_codes).toHaveLength(10);
    expect(await owner.complete(await owner.begin(), recovery[0]!)).toBeError('UNAUTHENTICATED');
    expect(await owner.complete(await owner.begin(), body.recovery_codes[0])).toHaveStatus(200);
  });

  it('is checked, which makes the login recent, when its recovery codes are replaced or it is turned off', async () => {
    const { secret } = await owner.turnOn();
    api.advanceClock(4 * MINUTE);
    const renewed = await api.post('/auth/mfa/recovery-codes/', { code: owner.codeOf(secret) }, headers);
    api.advanceClock(4 * MINUTE);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);
    const [code] = renewed.body.recovery_codes;
    expect(await api.delete('/auth/mfa/totp/', headers, { code })).toHaveStatus(204);
    api.advanceClock(4 * MINUTE);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);
  });

  it('is needed beside the password to make an older login recent', async () => {
    const { secret, recovery } = await owner.turnOn();
    api.advanceClock(6 * MINUTE);
    const options = (body: object) => api.post('/auth/passkeys/options/', body, headers);
    const key = { name: 'Key', scope: 'write' };

    expect(await options({ password: PASSWORD })).toBeError('FORBIDDEN');
    const createKey = await api.post('/auth/api-keys/', { ...key, password: PASSWORD }, headers);
    expect(createKey).toBeError('FORBIDDEN');
    const renew = await api.post('/auth/mfa/recovery-codes/', { code: owner.codeOf(secret) }, headers);
    expect(renew).toBeError('FORBIDDEN');
    const change = { old_password: PASSWORD, new_password: PASSWORD };
    expect(await api.post('/auth/change-password/', change, headers)).toHaveStatus(200);
    // None of these has made the login recent.
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');
    expect(await options({})).toBeError('FORBIDDEN');

    expect(await options({ password: PASSWORD, code: '000000' })).toBeError('INVALID_CODE');
    const wrong = await options({ password: 'wrong', code: owner.codeOf(secret) });
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    expect(await options({ code: owner.codeOf(secret) })).toBeError('FORBIDDEN');
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');

    expect(await options({ password: PASSWORD, code: owner.codeOf(secret) })).toHaveStatus(200);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);
    api.advanceClock(6 * MINUTE);
    const created = await api.post(
      '/auth/api-keys/',
      { ...key, password: PASSWORD, code: recovery[0] },
      headers,
    );
    expect(created).toHaveStatus(201);
  });

  it('is needed beside the password for a change of e-mail, and for a deletion', async () => {
    const { recovery } = await owner.turnOn();
    const calls = [
      (code?: string) => {
        const body = { new_email: `new-${email}`, password: PASSWORD, ...(code && { code }) };
        return api.post('/auth/email/change/', body, headers);
      },
      (code?: string) => api.delete('/auth/me/', headers, { password: PASSWORD, ...(code && { code }) }),
    ] as const;
    for (const [n, call] of calls.entries()) {
      expect(await call()).toBeError('VALIDATION_ERROR', ['code']);
      expect(await call('no-such-code')).toBeError('INVALID_CODE');
      expect(await call(recovery[n])).toHaveStatus(n === 0 ? 202 : 204);
    }
  });

  it('is void ten minutes after its secret was created, unless a code has confirmed it', async () => {
    const secret = await owner.setUp();
    api.moveClock(10 * MINUTE + 1000);
    expect(await owner.confirm(owner.codeOf(secret))).toBeError('INVALID_CODE');
    api.moveClock(10 * MINUTE - 1000);
    expect(await owner.confirm(owner.codeOf(secret))).toHaveStatus(200);
    api.moveClock(30 * MINUTE);
    expect(await owner.complete(await owner.begin(), owner.codeOf(secret))).toHaveStatus(200);
  });

  it('is void after five wrong codes for its secret, also concurrent ones', async () => {
    const secret = await owner.setUp();
    const wrong = await Promise.all(Array.from({ length: 5 }, () => owner.confirm('000000')));
    for (const reply of wrong) expect(reply).toBeError('INVALID_CODE');
    expect(await owner.confirm(owner.codeOf(secret))).toBeError('INVALID_CODE');

    const another = await owner.setUp();
    for (const code of ['000000', 'no-such-code', '12', '000000'])
      expect(await owner.confirm(code)).toBeError('INVALID_CODE');
    expect(await owner.confirm(owner.codeOf(another))).toHaveStatus(200);
  });

  it.each(['waits for its first code', 'is on'])(
    'lets an old token count nothing for the account while it %s',
    async (state) => {
      const secret = state === 'is on' ? (await owner.turnOn()).secret : await owner.setUp();
      api.advanceClock(6 * MINUTE);
      for (let n = 0; n < 30; n++) expect(await owner.confirm('000000')).toBeError('INVALID_CODE');

      expect(await api.post('/auth/mfa/recovery-codes/', { code: '000000' }, headers)).toBeError('FORBIDDEN');
      expect(await api.delete('/auth/mfa/totp/', headers, { code: '000000' })).toBeError('FORBIDDEN');
      const reply =
        state === 'is on'
          ? await owner.complete(await owner.begin(), owner.codeOf(secret))
          : await api.post('/auth/login/', { email, password: PASSWORD });
      expect(reply).toHaveStatus(200);
    },
  );

  it('has recovery codes of at least 112 random bits', async () => {
    const { recovery } = await owner.turnOn();
    // In Base32, each letter has five bits.
    for (const code of recovery) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){5}$/);
  });

  it('does not make an older login recent by its first code, which proves nothing about its owner', async () => {
    const secret = await owner.setUp();
    api.moveClock(6 * MINUTE);
    expect(await owner.confirm(owner.codeOf(secret))).toHaveStatus(200);
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');
  });

  it('needs a recent login to begin', async () => {
    api.moveClock(5 * MINUTE + 1000);
    expect(await api.post('/auth/mfa/totp/', {}, headers)).toBeError('FORBIDDEN');
    expect(await api.post('/auth/mfa/totp/', { password: PASSWORD }, headers)).toHaveStatus(200);
    // The password has made the login recent.
    expect(await api.post('/auth/mfa/totp/', {}, headers)).toHaveStatus(200);
  });

  it('names missing and badly typed fields', async () => {
    for (const code of [undefined, null, 5, ['1'], { a: 1 }, 'a\0']) {
      expect(await owner.confirm(code)).toBeError('VALIDATION_ERROR', ['code']);
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
});
