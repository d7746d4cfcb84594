import { expect, it } from '@jest/globals';
import { counterId } from '../src/accounts/counters.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { afterRefusal, REFUSALS } from './support/after-refusal.js';
import { created, type Reply } from './support/api.js';
import { Authenticator } from './support/authenticator.js';
import { FixtureModule } from './support/fixture.module.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { QuickPasswordsModule } from './support/quick-passwords.module.js';
import { FactorOwner } from './support/second-factor.js';
import { GitHub } from './support/social/github.js';
import { Visitor } from './support/social/visitor.js';

const MINUTE = 60_000;

const PUBLIC_URL = 'https://api.example.com';
const OPTIONS = {
  settings: { PUBLIC_URL, SOCIAL_LOGIN_REDIRECT: 'https://app.example.com/' },
  modules: [QuickPasswordsModule, FixtureModule],
  servers: { ...MAILS, github: () => new GitHub() },
};
onEach('after calls that were refused', OPTIONS, ({ api, mails, github }) => {
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

  /** The failed logins from the address of the tests. */
  async function failedLogins(): Promise<number> {
    const id = counterId('failures from', '127.0.0.1');
    const sql = 'SELECT count FROM counters WHERE id = :id';
    return (await api.rows.one<{ count: number }>(sql, { id }))?.count ?? 0;
  }

  /** What a caller has, the table that is away, and the call that uses it. */
  const USES: readonly (readonly [
    what: string,
    table: string,
    prepare: (owner: FactorOwner) => Promise<() => Promise<Reply>>,
  ])[] = [
    [
      'the right password',
      'sessions',
      async ({ email }) =>
        () =>
          logIn(email),
    ],
    [
      'the right code',
      'totp_factors',
      async (owner) => {
        const { secret } = await owner.turnOn();
        const token = await owner.begin();
        return () => owner.complete(token, owner.codeOf(secret));
      },
    ],
    ...['one_time_secrets', 'sessions'].map(
      (table) =>
        [
          'a recovery code',
          table,
          async (owner: FactorOwner) => {
            const { recovery } = await owner.turnOn();
            const token = await owner.begin();
            return () => owner.complete(token, recovery[3]!);
          },
        ] as const,
    ),
    [
      'a refresh token',
      'sessions',
      async ({ email }) => {
        const { refresh } = await api.accounts.login(email);
        return () => api.post('/auth/refresh/', { refresh });
      },
    ],
    ...['one_time_secrets', 'passkeys', 'sessions'].map(
      (table) =>
        [
          'a passkey',
          table,
          async ({ headers }: FactorOwner) => {
            const device = new Authenticator(PUBLIC_URL);
            const options = (await api.post('/auth/passkeys/options/', {}, headers)).body;
            created(await api.post('/auth/passkeys/', { response: device.create(options) }, headers));
            // A challenge is used up by any response.
            const responses: object[] = [];
            for (let n = 0; n <= REFUSALS; n++)
              responses.push(device.get((await api.post('/auth/passkeys/login/options/', {})).body));
            return () => api.post('/auth/passkeys/login/', { response: responses.shift() });
          },
        ] as const,
    ),
    ...['audit_entries', 'sessions'].map(
      (table) =>
        [
          'the token of a reset',
          table,
          async ({ email }: FactorOwner) => {
            await api.post('/auth/password/reset/', { email });
            const token = tokenIn(await mails.nextWith(email, 'Reset your password'));
            return () =>
              api.post('/auth/password/reset/confirm/', { token, new_password: 'another password' });
          },
        ] as const,
    ),
    [
      'the token of a verification',
      'audit_entries',
      async () => {
        await api.accounts.register('to-verify@example.com');
        const token = tokenIn(await mails.next('to-verify@example.com'));
        return () => api.post('/auth/email/verify/', { token });
      },
    ],
    [
      'the token of a change of address',
      'audit_entries',
      async ({ headers }) => {
        const change = { new_email: 'changed@example.com', password: PASSWORD };
        await api.post('/auth/email/change/', change, headers);
        const token = tokenIn(await mails.nextWith(change.new_email, 'Confirm your new e-mail address'));
        return () => api.post('/auth/email/change/confirm/', { token });
      },
    ],
    [
      'the code that turns the second factor on',
      'audit_entries',
      async (owner) => {
        const secret = await owner.setUp();
        return () => owner.confirm(owner.codeOf(secret));
      },
    ],
    [
      'the code for new recovery codes',
      'audit_entries',
      async (owner) => {
        const { secret } = await owner.turnOn();
        return () => api.post('/auth/mfa/recovery-codes/', { code: owner.codeOf(secret) }, owner.headers);
      },
    ],
    [
      'the code of a social login',
      'sessions',
      async () => {
        github.person = {
          id: 1,
          login: 'ada',
          name: 'Ada',
          emails: [{ email: 'social@example.com', primary: true, verified: true }],
        };
        const { headers } = await new Visitor(api).logIn('github');
        const code = new URL(headers['location']!).searchParams.get('code');
        return () => api.post('/auth/social/exchange/', { code });
      },
    ],
  ];

  it.each(USES)('%s is good: without %s', async (_, table, prepare) => {
    const use = await prepare(await FactorOwner.register(api));
    const failures = await failedLogins();
    expect(await afterRefusal(api, table, use)).toHaveStatus(200);
    expect(await failedLogins()).toBe(failures);
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
