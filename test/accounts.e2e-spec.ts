import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE } from './support/stores.js';

// With the full cost of passwords.
onEach('accounts', { modules: [] }, ({ api }) => {
  const count = async () => (await api.rows.one<{ n: number }>('SELECT count(*) AS n FROM accounts'))!.n;

  const accountOf = async (access: string) => (await api.get('/auth/me/', bearer(access))).body;

  describe('POST /auth/register/', () => {
    it('creates an account, and ignores the fields that a client may not set', async () => {
      const reply = await api.post('/auth/register/', {
        email: ' Ada@Example.COM ',
        name: 'Ada Lovelace',
        password: PASSWORD,
        phone: '+44 1',
        id: 77,
        role: 'admin',
        is_staff: true,
        is_superuser: true,
        is_active: false,
        is_email_verified: true,
        date_joined: '2000-01-01T00:00:00.000Z',
      });

      expect(reply).toHaveStatus(201);
      expect(reply.headers['location']).toBe('/auth/me/');
      expect(reply.body).toEqual({
        id: expect.any(Number),
        email: 'Ada@example.com',
        name: 'Ada Lovelace',
        phone: '+44 1',
        role: 'user',
        is_active: true,
        is_staff: false,
        is_superuser: false,
        is_email_verified: false,
        date_joined: expect.laterThan('2026-01-01T00:00:00.000Z'),
      });
      expect(reply.body.id).not.toBe(77);
    });

    it.each([
      ['\u03b1\u03c3', '\u0391\u03a3'],
      ['\u01f0', 'J\u030c'],
    ])('accepts %s once, in any letter case', async (lower, upper) => {
      await api.accounts.register(`${lower}@example.com`);
      const fields = { name: 'Twice', password: PASSWORD };
      const again = await api.post('/auth/register/', { ...fields, email: `${upper}@example.com` });

      expect(again).toBeError('CONFLICT');
      expect(await api.accounts.login(`${upper}@example.com`)).toHaveProperty('access');
    });

    it('stores the password as an argon2id hash', async () => {
      const { id } = await api.accounts.register('hash@example.com');

      const row = await api.rows.one<{ password_hash: string }>(
        'SELECT password_hash FROM accounts WHERE id = :id',
        { id },
      );

      expect(row!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
    });

    it('accepts a blank phone and a null phone', async () => {
      expect((await api.accounts.register('blank@example.com', { phone: '' })).phone).toBe('');
      expect((await api.accounts.register('none@example.com', { phone: null })).phone).toBe('');
    });

    it.each([
      ['twice@example.com', 'TWICE@EXAMPLE.COM'],
      ['zwei@bücher.example', 'ZWEI@xn--bcher-kva.example'],
      ['\u00e9t\u00e9@example.com', '\u00c9T\u00c9@example.com'],
    ])('rejects %s a second time as %s', async (first, second) => {
      await api.accounts.register(first);
      const before = await count();

      const reply = await api.post('/auth/register/', { email: second, name: 'B', password: PASSWORD });

      expect(reply).toBeError('CONFLICT');
      expect(reply.headers).not.toHaveProperty('location');
      expect(await count()).toBe(before);
    });

    it.each([
      ['no body', undefined, ['email', 'name', 'password']],
      ['an empty object', {}, ['email', 'name', 'password']],
      ['an invalid e-mail', { email: 'ada' }, ['email']],
      ['an empty e-mail', { email: '' }, ['email']],
      ['an e-mail with NUL', { email: 'a\0@example.com' }, ['email']],
      ['an e-mail with a lone surrogate', { email: 'a\ud800@example.com' }, ['email']],
      ['an e-mail that is too long', { email: `${'a'.repeat(65)}@example.com` }, ['email']],
      ['an empty name', { name: '' }, ['name']],
      ['a name of 151 characters', { name: '🙂'.repeat(151) }, ['name']],
      ['a name that is null', { name: null }, ['name']],
      ['a phone of 21 characters', { phone: '1'.repeat(21) }, ['phone']],
      ['a short password', { password: '12345' }, ['password']],
      ['a password of five emoji', { password: '😀'.repeat(5) }, ['password']],
      ['a password of 1025 characters', { password: 'x'.repeat(1025) }, ['password']],
      ['several invalid fields', { email: 'x', name: 1, password: '' }, ['email', 'name', 'password']],
    ])('rejects %s, and names the fields', async (_, fields, faults) => {
      const before = await count();
      const valid = { email: 'valid@example.com', name: 'Valid', password: PASSWORD };
      const isWhole = fields === undefined || Object.keys(fields).length === 0;
      const body = isWhole ? (fields ?? '') : { ...valid, ...fields };

      expect(await api.post('/auth/register/', body)).toBeError('VALIDATION_ERROR', faults);
      expect(await count()).toBe(before);
    });

    it('accepts names and passwords up to their limits, in code points', async () => {
      const password = '🔑'.repeat(1024);
      const { name } = await api.accounts.register('long@example.com', { name: '🙂'.repeat(150), password });

      expect(name).toBe('🙂'.repeat(150));
      await api.accounts.login('long@example.com', password);
    });
  });

  describe('/auth/me/', () => {
    let access: string;
    beforeAll(async () => {
      await api.accounts.register('me@example.com', { phone: '1' });
      ({ access } = await api.accounts.login('me@example.com'));
    });

    it.each(['put', 'patch'] as const)('%s changes name and phone, and nothing else', async (method) => {
      const before = await accountOf(access);

      const reply = await api[method](
        '/auth/me/',
        { name: `By ${method}`, phone: '', email: 'other@example.com', is_staff: true, role: 'admin', id: 1 },
        bearer(access),
      );

      expect(reply).toHaveStatus(200);
      expect(reply.body).toEqual({ ...before, name: `By ${method}`, phone: '' });
      expect(await accountOf(access)).toEqual(reply.body);
    });

    it.each(['put', 'patch'] as const)('%s keeps fields that are absent or null', async (method) => {
      const before = await accountOf(access);

      for (const body of [{}, { name: null, phone: null }]) {
        expect((await api[method]('/auth/me/', body, bearer(access))).body).toEqual(before);
      }
    });

    it.each([
      [{ name: '' }, ['name']],
      [{ name: 5 }, ['name']],
      [{ name: 'x'.repeat(151) }, ['name']],
      [{ phone: 'x'.repeat(21) }, ['phone']],
      [{ name: 'a\0', phone: {} }, ['name', 'phone']],
    ])('rejects %j, and changes nothing', async (body, fields) => {
      const before = await accountOf(access);

      expect(await api.put('/auth/me/', body, bearer(access))).toBeError('VALIDATION_ERROR', fields);
      expect(await accountOf(access)).toEqual(before);
    });
  });

  describe('POST /auth/change-password/', () => {
    const change = (access: string, old_password: unknown, new_password: unknown) =>
      api.post('/auth/change-password/', { old_password, new_password }, bearer(access));

    it('replaces the password, and ends every other login', async () => {
      await api.accounts.register('change@example.com');
      const own = await api.accounts.login('change@example.com');
      const other = await api.accounts.login('change@example.com');

      const reply = await change(own.access, PASSWORD, 'a new password');

      expect(reply).toHaveStatus(200);
      expect(reply.body).toEqual({ message: expect.any(String) });
      const old = { email: 'change@example.com', password: PASSWORD };
      expect(await api.post('/auth/login/', old)).toBeError('UNAUTHENTICATED');
      await api.accounts.login('change@example.com', 'a new password');
      expect(await api.post('/auth/refresh/', { refresh: other.refresh })).toBeError('TOKEN_NOT_VALID');
      expect(await api.post('/auth/refresh/', { refresh: own.refresh })).toHaveStatus(200);
    });

    it('checks the caller, the fields, the old password and the policy, in this order', async () => {
      await api.accounts.register('order@example.com');
      const { access } = await api.accounts.login('order@example.com');
      const anonymous = await api.post('/auth/change-password/', { old_password: 5 });

      expect(anonymous).toBeError('UNAUTHENTICATED');
      expect(await change(access, 5, undefined)).toBeError('VALIDATION_ERROR', [
        'old_password',
        'new_password',
      ]);
      expect(await change(access, 'wrong', 5)).toBeError('VALIDATION_ERROR', ['new_password']);
      const wrong = await change(access, 'wrong', 'short');
      expect(wrong).toHaveStatus(400);
      expect(wrong.body).toEqual({ error: 'The current password is incorrect' });
      expect(await change(access, PASSWORD, 'short')).toBeError('VALIDATION_ERROR', ['new_password']);
      await api.accounts.login('order@example.com');
    });

    it('accepts one of two concurrent changes', async () => {
      await api.accounts.register('both@example.com');
      const { access } = await api.accounts.login('both@example.com');

      const replies = await Promise.all([
        change(access, PASSWORD, 'first password'),
        change(access, PASSWORD, 'second password'),
      ]);

      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
      const winner = replies[0].status === 200 ? 'first password' : 'second password';
      await api.accounts.login('both@example.com', winner);
    });
  });
});

describe('PASSWORD_POLICY=strict', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, { PASSWORD_POLICY: 'strict' });
  });
  afterAll(() => api.stop());

  it.each([
    ['a common password', 'Password1'],
    ['seven characters', 'xk9#pQz'],
    ['digits only', '8361940275'],
    ['the e-mail', 'Grace.Hopper@Navy.example'],
    ['the name of the mailbox', 'grace.hopper'],
    ['the name', 'GRACE HOPPER'],
  ])('rejects %s', async (_, password) => {
    const body = { email: 'grace.hopper@navy.example', name: 'Grace Hopper', password };

    expect(await api.post('/auth/register/', body)).toBeError('VALIDATION_ERROR', ['password']);
  });

  it('is reported together with the other invalid fields', async () => {
    const body = { email: 'nobody', name: '', password: 'iloveyou1' };

    expect(await api.post('/auth/register/', body)).toBeError('VALIDATION_ERROR', [
      'email',
      'name',
      'password',
    ]);
  });

  it('keeps no one from registering, however many passwords of one client wait', async () => {
    const register = (name: string, remoteAddress: string) =>
      api.send({
        method: 'POST',
        url: '/auth/register/',
        remoteAddress,
        payload: { email: `${name}@example.com`, name, password: randomBytes(48).toString('base64') },
      });
    const many = Array.from({ length: 40 }, (_, n) => register(`many${n}`, '203.0.113.1'));
    const other = register('other', '203.0.113.2');

    expect(await other).toHaveStatus(201);
    const replies = await Promise.all(many);
    const accepted = replies.filter(({ status }) => status === 201);
    // One is being checked, and a quarter of the queue waits.
    expect(accepted).toHaveLength(1 + 64 / 4);
    for (const reply of replies.filter(({ status }) => status !== 201))
      expect(reply).toBeError('SERVICE_UNAVAILABLE');
  });

  it('also applies to a change, and accepts a password that is hard to guess', async () => {
    await api.accounts.register('grace@navy.example', { password: 'nanosecond wire' });
    const { access } = await api.accounts.login('grace@navy.example', 'nanosecond wire');
    const change = (new_password: string) =>
      api.post('/auth/change-password/', { old_password: 'nanosecond wire', new_password }, bearer(access));

    expect(await change('iloveyou1')).toBeError('VALIDATION_ERROR', ['new_password']);
    expect(await change('a moth in relay 70')).toHaveStatus(200);
  });
});
