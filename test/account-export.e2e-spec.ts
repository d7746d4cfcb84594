import { expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';

const MINUTE = 60_000;

const SETTINGS = { WRITE_ACCESS: 'authenticated' };
onEach('the export of an account', { settings: SETTINGS, modules: [FixtureModule] }, ({ api }) => {
  it('has everything that is stored about it, without secrets, and nothing of others', async () => {
    const other = await api.accounts.logInNew('other@example.com');
    await api.post('/v1/stubs', { of: 'other' }, { ...other, 'idempotency-key': 'other' });
    const account = await api.accounts.register('ada@example.com');
    const headers = bearer((await api.accounts.login('ada@example.com')).access);
    const { key } = (await api.post('/auth/api-keys/', { name: 'A', scope: 'read' }, headers)).body.data;
    for (let n = 0; n < 105; n++) {
      await api.post('/v1/stubs', `{"n": ${n}.10}`, { ...headers, 'idempotency-key': `stub-${n}` });
    }

    const reply = await api.get('/auth/me/export/', headers);

    expect(reply).toHaveStatus(200);
    expect(reply.headers['content-disposition']).toBe('attachment; filename="account.json"');
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(Object.keys(reply.body)).toEqual(
      expect.arrayContaining(['account', 'api_keys', 'audit', 'identities', 'logins', 'passkeys', 'stubs']),
    );
    expect(reply.body.account).toEqual(account);
    expect(reply.body.logins).toEqual([expect.objectContaining({ kind: 'token' })]);
    expect(reply.body.api_keys).toEqual([expect.objectContaining({ name: 'A', prefix: key.slice(0, 8) })]);
    expect([reply.body.identities, reply.body.passkeys]).toEqual([[], []]);
    expect(reply.body.stubs).toHaveLength(105);
    expect(reply.text).toContain('{"n": 104.10}');
    expect(reply.text).not.toContain('"of"');
    expect(reply.body.audit.map(({ action }: any) => action)).toContain('POST /auth/register');
    for (const secret of [key, 'argon2', PASSWORD]) expect(reply.text).not.toContain(secret);
  });

  it('needs a recent login, and neither a password nor a refresh makes up for it', async () => {
    await api.accounts.register('late@example.com');
    const { access, refresh } = await api.accounts.login('late@example.com');
    const headers = bearer(access);
    api.moveClock(5 * MINUTE + 1000);
    expect(await api.get('/auth/me/export/', headers)).toBeError('FORBIDDEN');
    const next = await api.post('/auth/refresh/', { refresh });
    expect(await api.get('/auth/me/export/', bearer(next.body.access))).toBeError('FORBIDDEN');
    expect(await api.get('/auth/me/export/')).toBeError('UNAUTHENTICATED');
    const change = { old_password: PASSWORD, new_password: 'another password' };
    expect(await api.post('/auth/change-password/', change, headers)).toHaveStatus(200);
    expect(await api.get('/auth/me/export/', headers)).toHaveStatus(200);
  });
});
