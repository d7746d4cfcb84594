import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { LoginThrottle } from '../src/accounts/password/login-throttle.js';
import { Passkey } from '../src/accounts/passkey/passkey.entity.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply, startApi } from './support/api.js';
import { Authenticator } from './support/authenticator.js';
import { onEach } from './support/on-each.js';
import { turnOnFactor } from './support/second-factor.js';
import { ANY_STORE } from './support/stores.js';

const MINUTE = 60_000;
const ORIGIN = 'https://api.example.com';

/** A COSE key of ES256 whose point is on no curve. */
const ec2 = (curve: number, length: number): Buffer =>
  Buffer.concat([
    Buffer.from(`a50102032620${curve.toString(16).padStart(2, '0')}2158${length.toString(16)}`, 'hex'),
    Buffer.alloc(length, 1),
    Buffer.from(`2258${length.toString(16)}`, 'hex'),
    Buffer.alloc(length, 2),
  ]);

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status).toSorted((a, b) => a - b);

const USED_CHALLENGES = "SELECT * FROM one_time_secrets WHERE purpose = 'passkey-challenge'";

const SETTINGS = { PUBLIC_URL: ORIGIN, CORS_ORIGINS: 'https://app.example.com' };
onEach('passkeys', { settings: SETTINGS }, ({ api }) => {
  let email: string;
  let headers: Record<string, string>;
  let device: Authenticator;
  let count = 0;
  beforeEach(async () => {
    email = `passkey${++count}@example.com`;
    headers = await api.accounts.logInNew(email);
    device = new Authenticator(ORIGIN);
  });

  const options = async () => (await api.post('/auth/passkeys/options/', {}, headers)).body;
  const register = (response: unknown, name?: unknown) =>
    api.post('/auth/passkeys/', { response, name }, headers);
  const add = async (on = device, name = 'Laptop') => {
    const reply = await register(on.create(await options()), name);
    expect(reply).toHaveStatus(201);
    return reply;
  };
  const loginOptions = async (on = api) => (await on.post('/auth/passkeys/login/options/', {})).body;
  const login = (response: unknown, on = api) => on.post('/auth/passkeys/login/', { response });

  it('are registered, listed, used and removed', async () => {
    const created = await add();
    const { id } = created.body.data;
    expect(created.headers['location']).toBe(`/auth/passkeys/${id}`);
    const passkey = { id, name: 'Laptop', created_at: expect.any(String), last_used_at: null };
    expect(created.body.data).toEqual(passkey);
    expect((await api.get('/auth/passkeys/', headers)).body.data).toEqual([passkey]);
    expect((await api.get('/auth/mfa/', headers)).body.data.passkeys).toBe(1);

    const reply = await login(device.get(await loginOptions()));

    expect(reply).toHaveStatus(200);
    expect((await api.get('/auth/me/', bearer(reply.body.access))).body.email).toBe(email);
    const [used] = (await api.get('/auth/passkeys/', headers)).body.data;
    expect(used.last_used_at).not.toBeNull();
    expect(await api.delete(`/auth/passkeys/${id}/`, headers)).toHaveStatus(204);
    expect(await login(device.get(await loginOptions()))).toBeError('UNAUTHENTICATED');
  });

  it('are removed one by one', async () => {
    const names = ['First', 'Second', 'Third'];
    const ids: number[] = [];
    for (const name of names) ids.push((await add(new Authenticator(ORIGIN), name)).body.data.id);

    expect(await api.delete(`/auth/passkeys/${ids[1]}/`, headers)).toHaveStatus(204);
    const { data } = (await api.get('/auth/passkeys/', headers)).body;
    expect(data.map(({ name }: any) => name).toSorted()).toEqual(['First', 'Third']);
  });

  it('are at most fifty, and one that is removed leaves a place', async () => {
    const create = async () => register(new Authenticator(ORIGIN).create(await options()), 'Device');
    const replies = [];
    for (let n = 0; n < 50; n++) replies.push(await create());
    expect(statuses(replies)).toEqual(Array(50).fill(201));
    expect(await create()).toBeError('CONFLICT');

    expect(await api.delete(`/auth/passkeys/${replies[7]!.body.data.id}/`, headers)).toHaveStatus(204);
    expect(await create()).toHaveStatus(201);
    expect(await create()).toBeError('CONFLICT');
  });

  it('open a session, too', async () => {
    await add();
    const reply = await api.post('/auth/session/', { passkey: device.get(await loginOptions()) });
    expect(reply).toHaveStatus(200);
    expect(reply.body.account.email).toBe(email);
    expect(reply.headers['set-cookie']).toBeDefined();
    const none = await api.post('/auth/session/', { passkey: 'x' });
    expect(none).toBeError('VALIDATION_ERROR', ['passkey']);
  });

  it('need no further factor', async () => {
    await add();
    await turnOnFactor(api, headers);
    expect((await login(device.get(await loginOptions()))).body).toHaveProperty('access');
  });

  it('log in only with a verified e-mail while REQUIRE_VERIFIED_EMAIL is on', async () => {
    await add();
    await api.restart({ requireVerifiedEmail: true });
    expect(await login(device.get(await loginOptions()))).toBeError('FORBIDDEN');
    await api.restart({ requireVerifiedEmail: false });
    expect(await login(device.get(await loginOptions()))).toHaveStatus(200);
  });

  it('store nothing when a challenge is issued', async () => {
    const before = await api.rows.all(USED_CHALLENGES);
    await loginOptions();
    await options();
    expect(await api.rows.all(USED_CHALLENGES)).toEqual(before);
  });

  it('have options with a resident key and user verification, without the passkeys that exist', async () => {
    await add();
    const body = await options();
    expect(body.rp).toEqual({ id: 'api.example.com', name: 'Posts API' });
    expect(body.authenticatorSelection).toMatchObject({
      residentKey: 'required',
      userVerification: 'required',
    });
    expect(body.excludeCredentials).toEqual([
      { id: device.id.toString('base64url'), type: 'public-key', transports: ['internal'] },
    ]);
    const [first, second] = [await loginOptions(), await loginOptions()];
    expect(first.challenge).not.toBe(second.challenge);
    expect({ ...first, challenge: '' }).toEqual({ ...second, challenge: '' });
    expect(first).toMatchObject({ rpId: 'api.example.com', userVerification: 'required' });
    expect(first.allowCredentials ?? []).toEqual([]);
  });

  it('accept the origins of the front ends', async () => {
    const phone = new Authenticator('https://app.example.com');
    await add(phone);
    expect(await login(phone.get(await loginOptions()))).toHaveStatus(200);
  });

  it('are not registered by a wrong response', async () => {
    const other = await options();
    for (const make of [
      (of: any) => device.create(of, { origin: 'https://evil.example' }),
      (of: any) => device.create(of, { rpId: 'evil.example' }),
      (of: any) => device.create(of, { unverified: true }),
      (of: any) => device.create(of, { challenge: Buffer.alloc(54).toString('base64url') }),
      (of: any) => device.create(of, { clientData: { crossOrigin: true } }),
      (of: any) => device.create(of, { clientData: { crossOrigin: 'no' } }),
      (of: any) => device.create(of, { clientData: { topOrigin: 'https://evil.example' } }),
      (of: any) => device.create(of, { clientData: { topOrigin: ORIGIN } }),
      (of: any) => device.create(of, { publicKey: ec2(1, 32) }),
      (of: any) => device.create(of, { publicKey: ec2(2, 48) }),
      (of: any) => device.create(of, { publicKey: Buffer.from('a301010327200643', 'hex') }),
      (of: any) => ({ ...device.create(of), id: 'AAAA' }),
      (of: any) => {
        const made = device.create(of);
        return { ...made, response: { ...made.response, attestationObject: 'AAAA' } };
      },
      (of: any) => device.get({ ...of, rpId: 'api.example.com' }),
    ]) {
      expect(await register(make(await options()))).toBeError('INVALID_CODE');
    }
    const challenge = (await loginOptions()).challenge;
    expect(await register(device.create({ ...other, challenge }))).toBeError('INVALID_CODE');
    expect((await api.get('/auth/passkeys/', headers)).body.data).toEqual([]);
  });

  it('use up a challenge by any response, and after 5 minutes', async () => {
    for (const wrong of [
      { origin: 'https://evil.example' },
      { clientData: { crossOrigin: true } },
      { clientData: { topOrigin: 'https://evil.example' } },
    ]) {
      const first = await options();
      expect(await register(device.create(first, wrong))).toBeError('INVALID_CODE');
      expect(await register(device.create(first))).toBeError('INVALID_CODE');
    }

    const second = await options();
    api.moveClock(5 * MINUTE + 1000);
    expect(await register(device.create(second))).toBeError('INVALID_CODE');
    api.moveClock(0);

    await add();
    const third = await loginOptions();
    const response = device.get(third);
    const tampered = { ...response.response, signature: 'AAAA' };
    expect(await login({ ...response, response: tampered })).toBeError('UNAUTHENTICATED');
    expect(await login(response)).toBeError('UNAUTHENTICATED');
    api.moveClock(6 * MINUTE);
    await api.app.get(Purger).purge();
    expect(await api.rows.all(USED_CHALLENGES)).toEqual([]);
  });

  it('are not registered with a longer id than WebAuthn allows', async () => {
    const long = new Authenticator(ORIGIN, 1024);
    expect(await register(long.create(await options()))).toBeError('INVALID_CODE');
    await add(new Authenticator(ORIGIN, 1023));
  });

  it('keep only transports that WebAuthn names', async () => {
    const made = device.create(await options());
    const response = { ...made.response, transports: ['internal', 5, { a: 1 }, 'carrier pigeon', 'usb'] };
    expect(await register({ ...made, response })).toHaveStatus(201);
    expect((await options()).excludeCredentials[0].transports).toEqual(['internal', 'usb']);
  });

  it('are not registered with the challenge of another account', async () => {
    const mine = await options();
    const other = `other${count}@example.com`;
    const theirs = await api.accounts.logInNew(other);
    const reply = await api.post('/auth/passkeys/', { response: device.create(mine) }, theirs);
    expect(reply).toBeError('INVALID_CODE');
  });

  it('log in once with one response, also for 20 concurrent requests', async () => {
    await add();
    const response = device.get(await loginOptions());
    const replies = await Promise.all(Array.from({ length: 20 }, () => login(response)));
    expect(statuses(replies)).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
  });

  it('cause one error for a wrong login of any kind', async () => {
    await add();
    const stranger = new Authenticator(ORIGIN);
    const copy = Object.assign(new Authenticator(ORIGIN), { id: device.id });
    const of = await loginOptions();
    const replies = [
      await login(stranger.get(of)),
      await login(copy.get(await loginOptions(), { userHandle: 'MQ' })),
      await login(copy.get(await loginOptions())),
      await login(device.get(await loginOptions(), { unverified: true })),
      await login(device.get(await loginOptions(), { origin: 'https://evil.example' })),
      await login(device.get(await loginOptions(), { rpId: 'evil.example' })),
      await login(device.get(await loginOptions(), { clientData: { crossOrigin: true } })),
      await login(device.get(await loginOptions(), { clientData: { topOrigin: 'https://evil.example' } })),
      await login(device.get(await options(), { rpId: 'api.example.com' })),
    ];
    await api.accounts.admin().setActive(email, false);
    replies.push(await login(device.get(await loginOptions())));

    for (const reply of replies) {
      expect(reply).toBeError('UNAUTHENTICATED');
      expect(reply.body).toEqual(replies[0]!.body);
    }
  });

  it('reject a counter that goes back, as a cloned authenticator would send it', async () => {
    device.counter = 10;
    await add();
    expect(await login(device.get(await loginOptions()))).toHaveStatus(200);
    device.counter = 3;
    expect(await login(device.get(await loginOptions()))).toBeError('UNAUTHENTICATED');
  });

  it('keep the highest counter of concurrent logins', async () => {
    await add();
    const responses = [];
    for (let n = 0; n < 6; n++) responses.push(device.get(await loginOptions()));

    const replies = await Promise.all(responses.toReversed().map((response) => login(response)));

    const stored = 'SELECT counter FROM passkeys WHERE credential_id = :id';
    const id = device.id.toString('base64url');
    const [row] = await api.rows.all<{ counter: number }>(stored, { id });
    const accepted = replies.toReversed().map(({ status }, n) => (status === 200 ? n + 1 : 0));
    expect(row!.counter).toBe(Math.max(...accepted));
  });

  it('do not log in when they are removed while the login is in progress', async () => {
    const { id } = (await add()).body.data;
    const response = device.get(await loginOptions());
    const repository = api.app.get<Repository<Passkey>>(getRepositoryToken(Passkey), { strict: false });
    const find = jest.spyOn(repository, 'findOne');
    const removed = new Promise<void>((resolve, reject) => {
      find.mockImplementationOnce(async (wanted) => {
        find.mockRestore();
        const found = await repository.findOne(wanted);
        api.delete(`/auth/passkeys/${id}/`, headers).then(() => resolve(), reject);
        await removed;
        return found;
      });
    });

    expect(await login(response)).toBeError('UNAUTHENTICATED');
    await removed;
  });

  it('are throttled by address, and store nothing beyond that', async () => {
    const throttle = api.app.get(LoginThrottle, { strict: false });
    await add();
    await api.rows.execute('DELETE FROM counters');
    for (let n = 0; n < 298; n++) await throttle.count({ address: '127.0.0.1' });
    const before = await api.rows.all(USED_CHALLENGES);
    // A right one does not count.
    expect(await login(device.get(await loginOptions()))).toHaveStatus(200);
    const wrong = async () => login(device.get(await loginOptions(), { origin: 'https://evil.example' }));
    for (let n = 0; n < 2; n++) expect(await wrong()).toBeError('UNAUTHENTICATED');

    for (let n = 0; n < 3; n++) expect(await wrong()).toBeError('RATE_LIMITED');
    expect(await login(device.get(await loginOptions()))).toBeError('RATE_LIMITED');
    const passkey = device.get(await loginOptions());
    expect(await api.post('/auth/session/', { passkey })).toBeError('RATE_LIMITED');
    expect(await api.rows.all(USED_CHALLENGES)).toHaveLength(before.length + 3);
    await api.rows.execute('DELETE FROM counters');
  });

  it('need a recent login to be added and removed', async () => {
    const { id } = (await add()).body.data;
    api.moveClock(6 * MINUTE);
    expect(await api.delete(`/auth/passkeys/${id}/`, headers)).toBeError('FORBIDDEN');
    const remove = (password: string) => api.delete(`/auth/passkeys/${id}/`, headers, { password });
    const wrong = await remove('wrong');
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    expect(await remove(PASSWORD)).toHaveStatus(204);
  });

  it('of another account, and malformed ids, are 404', async () => {
    const { id } = (await add()).body.data;
    const other = `stranger${count}@example.com`;
    const theirs = await api.accounts.logInNew(other);
    for (const [path, caller] of [
      [String(id), theirs],
      ['abc', headers],
      ['0', headers],
    ] as const) {
      expect(await api.delete(`/auth/passkeys/${path}/`, caller)).toBeError('NOT_FOUND');
    }
  });

  it('name missing and badly typed fields', async () => {
    for (const response of [undefined, null, 5, 'x', [], {}, { id: 'x' }]) {
      expect(await register(response)).toBeError('VALIDATION_ERROR', ['response']);
      expect(await login(response)).toBeError('VALIDATION_ERROR', ['response']);
    }
    expect(await register(device.create(await options()), '')).toBeError('VALIDATION_ERROR', ['name']);
    expect(await register(device.create(await options()), 5)).toBeError('VALIDATION_ERROR', ['name']);
  });
});

describe('passkeys', () => {
  it('work once over two replicas', async () => {
    const api = await startApi('PostgreSQL', { PUBLIC_URL: ORIGIN });
    const replica = await api.replica();
    const headers = await api.accounts.logInNew('ada@example.com');
    const device = new Authenticator(ORIGIN);
    const { body } = await api.post('/auth/passkeys/options/', {}, headers);
    expect(await replica.post('/auth/passkeys/', { response: device.create(body) }, headers)).toHaveStatus(
      201,
    );
    const response = device.get((await api.post('/auth/passkeys/login/options/', {})).body);

    const replies = await Promise.all(
      [api, replica, api, replica].map((on) => on.post('/auth/passkeys/login/', { response })),
    );

    expect(statuses(replies)).toEqual([200, 401, 401, 401]);
    await replica.stop();
    await api.stop();
  });

  it('belong to localhost at an address outside of production, and are 503 in production', async () => {
    const api = await startApi(ANY_STORE, { PUBLIC_URL: 'http://127.0.0.1:4567' });
    const { body } = await api.post('/auth/passkeys/login/options/', {});
    expect(body.rpId).toBe('localhost');
    const headers = await api.accounts.logInNew('ada@example.com');
    const device = new Authenticator('http://localhost:4567');
    const options = (await api.post('/auth/passkeys/options/', {}, headers)).body;
    expect(await api.post('/auth/passkeys/', { response: device.create(options) }, headers)).toHaveStatus(
      201,
    );

    await api.restart({ production: true });

    for (const path of ['/auth/passkeys/login/options/', '/auth/passkeys/options/']) {
      expect(await api.post(path, {}, headers)).toBeError('SERVICE_UNAVAILABLE');
    }
    await api.stop();
  });
});
