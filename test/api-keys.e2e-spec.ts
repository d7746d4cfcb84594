import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE } from './support/stores.js';

const MINUTE = 60_000;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SETTINGS = { WRITE_ACCESS: 'authenticated' };
onEach('API keys', { settings: SETTINGS, modules: [FixtureModule], servers: MAILS }, ({ api, mails }) => {
  let email: string;
  let headers: Record<string, string>;
  let count = 0;
  beforeEach(async () => {
    email = `key${++count}@example.com`;
    await api.accounts.register(email);
    await api.accounts.admin().verifyEmail(email);
    headers = bearer((await api.accounts.login(email)).access);
  });

  const create = (fields: object = {}, caller = headers) =>
    api.post('/auth/api-keys/', { name: 'Import', scope: 'write', ...fields }, caller);
  const keyOf = async (fields: object = {}) => {
    const reply = await create(fields);
    expect(reply).toHaveStatus(201);
    return bearer(reply.body.data.key);
  };
  const list = async () => (await api.get('/auth/api-keys/', headers)).body.data;
  const dummy = { text: 'A' };

  it('are created, shown once, listed and deleted', async () => {
    const reply = await create({ scope: 'read', expires_at: '2099-01-01T00:00:00+01:00' });

    expect(reply).toHaveStatus(201);
    const { key, ...shown } = reply.body.data;
    expect(key).toMatch(/^psk_[\dA-Za-z]{46}$/);
    expect(shown).toEqual({
      id: expect.any(Number),
      name: 'Import',
      prefix: key.slice(0, 8),
      scope: 'read',
      created_at: expect.any(String),
      last_used_at: null,
      expires_at: '2098-12-31T23:00:00.000Z',
    });
    expect(reply.headers['location']).toBe(`/auth/api-keys/${shown.id}`);
    expect(await list()).toEqual([shown]);
    expect(JSON.stringify(await api.rows.all('SELECT * FROM api_keys'))).not.toContain(key);
    await mails.nextWith(email, 'An API key was created');

    expect(await api.delete(`/auth/api-keys/${shown.id}/`, headers)).toHaveStatus(204);
    await mails.nextWith(email, 'An API key was deleted');
    expect(await list()).toEqual([]);
    expect(await api.get('/auth/me/', bearer(key))).toBeError('TOKEN_NOT_VALID');
  });

  it('end with a checksum, CRC-32 in base 62, so that mistyped ones never reach the database', async () => {
    const { key } = (await create()).body.data;
    let rest = crc32(key.slice(4, 44));
    let checksum = '';
    for (let n = 0; n < 6; n++) {
      checksum = ALPHABET[rest % 62]! + checksum;
      rest = Math.floor(rest / 62);
    }
    expect(key.slice(44)).toBe(checksum);
    const mistyped = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
    for (const text of [mistyped, `${key}a`, 'psk_', `psk_${'é'.repeat(46)}`, `psk_${'x'.repeat(5000)}`]) {
      expect(await api.get('/auth/me/', bearer(text))).toBeError('TOKEN_NOT_VALID');
    }
  });

  it('with the scope read allow safe methods and queries only', async () => {
    const key = await keyOf({ scope: 'read' });
    for (const path of ['/auth/me/', '/v1/stubs', '/v1/dummies', '/v1/events']) {
      expect(await api.get(path, key)).toHaveStatus(200);
    }
    expect((await api.graphql('{ dummies { nodes { id } } }', undefined, key)).body.errors).toBeUndefined();

    expect(await api.post('/v1/dummies', dummy, key)).toBeError('FORBIDDEN');
    expect(await api.post('/v1/stubs', {}, { ...key, 'idempotency-key': 'a' })).toBeError('FORBIDDEN');
    const mutation = 'mutation { createDummy(input: { text: "A" }) { id } }';
    const { body } = await api.graphql(mutation, undefined, key);
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  it('with the scope write act as their account', async () => {
    const key = await keyOf();
    expect(await api.get('/auth/me/', key)).toHaveStatus(200);
    expect(await api.post('/v1/dummies', dummy, key)).toHaveStatus(201);
    const stub = await api.post('/v1/stubs', {}, { ...key, 'idempotency-key': `key-${count}` });
    expect(stub).toHaveStatus(201);
    expect(await api.get(`/v1/stubs/${stub.body.data.id}`, headers)).toHaveStatus(200);
    const mutation = 'mutation { createDummy(input: { text: "A" }) { id } }';
    expect((await api.graphql(mutation, undefined, key)).body.errors).toBeUndefined();
    expect((await list())[0].last_used_at).not.toBeNull();
  });

  it('are rejected when they expire, or their account is deactivated, also after it is active again', async () => {
    const expiring = await keyOf({ expires_at: new Date(Date.now() + MINUTE).toISOString() });
    const lasting = await keyOf();
    expect(await api.get('/auth/me/', expiring)).toHaveStatus(200);
    api.moveClock(MINUTE + 1000);
    expect(await api.get('/auth/me/', expiring)).toBeError('TOKEN_NOT_VALID');
    expect(await api.get('/auth/me/', lasting)).toHaveStatus(200);
    await api.accounts.admin().setActive(email, false);
    expect(await api.get('/auth/me/', lasting)).toBeError('TOKEN_NOT_VALID');
    await api.accounts.admin().setActive(email, true);
    expect(await api.get('/auth/me/', lasting)).toBeError('TOKEN_NOT_VALID');
  });

  it('stay valid after a change of the password, and end with a reset', async () => {
    const key = await keyOf();
    const change = { old_password: PASSWORD, new_password: 'another password' };
    expect(await api.post('/auth/change-password/', change, headers)).toHaveStatus(200);
    expect(await api.get('/auth/me/', key)).toHaveStatus(200);

    expect(await api.post('/auth/password/reset/', { email })).toHaveStatus(202);
    const mail = await mails.nextWith(email, 'Reset your password');
    const reset = { token: tokenIn(mail), new_password: 'a third password' };
    expect(await api.post('/auth/password/reset/confirm/', reset)).toHaveStatus(200);
    expect(await api.get('/auth/me/', key)).toBeError('TOKEN_NOT_VALID');
  });

  it('need a recent login to be created, and at most 50 exist', async () => {
    for (let n = 0; n < 50; n++) expect(await create()).toHaveStatus(201);
    expect(await create()).toBeError('CONFLICT');
    const [first] = await list();
    expect(await api.delete(`/auth/api-keys/${first.id}/`, headers)).toHaveStatus(204);
    const replies = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);

    api.moveClock(6 * MINUTE);
    expect(await create()).toBeError('FORBIDDEN');
    const wrong = await create({ password: 'wrong' });
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'The current password is incorrect' }]);
    expect(await create({ password: PASSWORD })).toBeError('CONFLICT');
  });

  it('of others, and malformed ids, are 404', async () => {
    const { id } = (await create()).body.data;
    const other = `stranger${count}@example.com`;
    const theirs = await api.accounts.logInNew(other);
    for (const [path, caller] of [
      [String(id), theirs],
      ['abc', headers],
      ['0', headers],
    ] as const) {
      expect(await api.delete(`/auth/api-keys/${path}/`, caller)).toBeError('NOT_FOUND');
    }
    expect(await list()).toHaveLength(1);
  });

  it('name missing and badly typed fields', async () => {
    expect(await api.post('/auth/api-keys/', {}, headers)).toBeError('VALIDATION_ERROR', ['name', 'scope']);
    for (const name of ['', 5, null, 'x'.repeat(151), 'a\0']) {
      expect(await create({ name })).toBeError('VALIDATION_ERROR', ['name']);
    }
    for (const scope of ['', 'admin', 5, null]) {
      expect(await create({ scope })).toBeError('VALIDATION_ERROR', ['scope']);
    }
    for (const expires_at of [
      '',
      'soon',
      5,
      '2020-01-01T00:00:00Z',
      '2099-01-01',
      '2099-13-01T00:00:00Z',
      '9999-12-31T23:59:59-01:00',
      '2099-02-30T00:00:00Z',
      '2099-02-29T00:00:00Z',
      '2099-01-01T24:00:00Z',
      '2099-01-01T00:00:60Z',
      '2099-01-01T00:00:00+24:00',
    ]) {
      expect(await create({ expires_at })).toBeError('VALIDATION_ERROR', ['expires_at']);
    }
    const leap = await create({ expires_at: '2099-01-01T00:59:60+01:00' });
    expect(leap.body.data.expires_at).toBe('2099-01-01T00:00:00.000Z');
  });

  it('do not look at the password of a key that would have expired', async () => {
    api.moveClock(6 * MINUTE);
    const refused = await create({ expires_at: '2020-01-01T00:00:00Z', password: 'wrong' });
    expect(refused).toBeError('VALIDATION_ERROR', ['expires_at']);
    expect(await create({ password: 'wrong' })).toHaveStatus(400);
  });
});

describe('an API key in open mode', () => {
  it('is not looked at, so its scope does not apply', async () => {
    const api = await startApi(ANY_STORE, {}, [FixtureModule]);
    const headers = await api.accounts.logInNew('ada@example.com');
    const { key } = (await api.post('/auth/api-keys/', { name: 'A', scope: 'read' }, headers)).body.data;
    const dummy = { text: 'A' };
    expect(await api.post('/v1/dummies', dummy, bearer(key))).toHaveStatus(201);
    expect(await api.post('/v1/dummies', dummy, bearer('psk_nonsense'))).toHaveStatus(201);
    await api.stop();
  });
});
