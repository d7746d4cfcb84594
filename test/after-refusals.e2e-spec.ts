import { expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { afterRefusal } from './support/after-refusal.js';
import { created } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { QuickPasswordsModule } from './support/quick-passwords.module.js';
import { FactorOwner } from './support/second-factor.js';

const MINUTE = 60_000;

const OPTIONS = { modules: [QuickPasswordsModule, FixtureModule], servers: MAILS };
onEach('after calls that were refused', OPTIONS, ({ api, mails }) => {
  const logIn = (email: string) => api.post('/auth/login/', { email, password: PASSWORD });

  it('an idempotency key is free', async () => {
    const create = () => api.post('/v1/stubs', {}, { 'idempotency-key': 'again' });
    expect(await afterRefusal(api, 'events', create)).toHaveStatus(201);
    expect((await create()).headers['idempotent-replayed']).toBe('true');
  });

  it.each(['mails', 'audit_entries'])(
    'an address can be registered, with one mail: without %s',
    async (table) => {
      const email = `${table}@example.com`;
      const register = () => api.post('/auth/register/', { email, name: 'Ada', password: PASSWORD });
      expect(await afterRefusal(api, table, register)).toHaveStatus(201);
      await mails.next(email);
      await api.mailsSent('verify-email');
      expect(mails.to(email)).toHaveLength(1);
    },
  );

  it('a password can be reset', async () => {
    const email = 'forgotten@example.com';
    await api.accounts.register(email);
    await mails.next(email);
    expect(await afterRefusal(api, 'mails', () => api.post('/auth/password/reset/', { email }))).toHaveStatus(
      202,
    );
    await mails.nextWith(email, 'Reset your password');
  });

  it('the right password logs in', async () => {
    await api.accounts.register('right@example.com');
    expect(await afterRefusal(api, 'logins', () => logIn('right@example.com'))).toHaveStatus(200);
  });

  it('the right code completes a login', async () => {
    const owner = await FactorOwner.register(api);
    const { secret } = await owner.turnOn();
    const token = await owner.begin();
    const complete = () => owner.complete(token, owner.codeOf(secret));
    expect(await afterRefusal(api, 'totp_factors', complete)).toHaveStatus(200);
  });

  it.each([
    ['another mail', 'email/resend/', 'Confirm your e-mail address', {}],
    [
      'another address',
      'email/change/',
      'Confirm your new e-mail address',
      { new_email: 'next@example.com', password: PASSWORD },
    ],
  ])('%s can be requested', async (_, path, subject, body) => {
    const email = `${path.replaceAll('/', '.')}x@example.com`;
    await api.accounts.register(email);
    await mails.next(email);
    await api.mailsSent('verify-email');
    const headers = bearer((await api.accounts.login(email)).access);
    api.moveClock(2 * MINUTE);
    expect(await afterRefusal(api, 'mails', () => api.post(`/auth/${path}`, body, headers))).toHaveStatus(
      202,
    );
    await mails.nextWith('new_email' in body ? body.new_email : email, subject);
  });

  it.each([
    ['API key', 50, '/auth/api-keys/', (n: number) => ({ name: `Key ${n}`, scope: 'read' })],
    ['webhook', 100, '/v1/webhooks', (n: number) => ({ url: `https://example.com/${n}`, types: ['*'] })],
  ])('at their limit, a deleted %s leaves one place', async (kind, limit, path, body) => {
    const headers = await api.accounts.logInNewStaff(`${kind.replace(' ', '')}@example.com`);
    const create = (n: number) => api.post(path, body(n), headers);
    const ids: number[] = [];
    for (let n = 0; n < limit; n++) ids.push(created(await create(n)).id);
    for (let n = 0; n < 3; n++) expect(await create(n)).toBeError('CONFLICT');
    expect(await api.delete(`${path.replace(/\/$/, '')}/${ids[7]!}`, headers)).toHaveStatus(204);
    expect(await create(limit)).toHaveStatus(201);
    expect(await create(limit)).toBeError('CONFLICT');
  });
});
