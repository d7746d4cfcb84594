import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeAll, expect, it } from '@jest/globals';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { TokensService } from '../src/accounts/tokens/tokens.service.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { type Reply } from './support/api.js';
import { patiently, times } from './support/concurrent.js';
import { onEach } from './support/on-each.js';
import { until } from './support/until.js';
import { untilBlocked } from './support/until-blocked.js';
import { Authenticated } from '../src/accounts/sessions.service.js';

const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

/** Waits until the queue of passwords is full. */
const firstRejectionOf = (replies: readonly Promise<Reply>[]) =>
  Promise.any(
    replies.map(async (reply) => {
      expect(await reply).toHaveStatus(503);
    }),
  );

/** Clients at different addresses: each has a share of the queue. */
const from = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n}` });

onEach('races of accounts', { settings: { TRUST_PROXY: '127.0.0.1' } }, ({ api, store }) => {
  beforeAll(async () => {
    await api.accounts.register('ada@example.com');
  });

  const refresh = (token: string) => api.post('/auth/refresh/', { refresh: token });
  const refreshPatiently = (token: string) => patiently(() => refresh(token), 10);
  const logins = async (email: string) =>
    (await api.rows.one<{ n: number }>(
      `SELECT count(*) AS n FROM sessions JOIN accounts ON accounts.id = account_id WHERE email = :email`,
      { email },
    ))!.n;

  it('100 concurrent refreshes of one token: exactly one succeeds in each of five rounds', async () => {
    let { refresh: token } = await api.accounts.login('ada@example.com');
    for (let round = 0; round < 5; round++) {
      const replies = await times(100, () => refreshPatiently(token));

      expect([count(replies, 200), count(replies, 401)]).toEqual([1, 99]);
      token = replies.find(({ status }) => status === 200)!.body.refresh;
    }
    expect(await api.post('/auth/verify/', { token })).toHaveStatus(200);
  });

  it('50 concurrent registrations of one e-mail in mixed case: exactly one succeeds', async () => {
    const mixed = (n: number) =>
      'race@example.com'.replaceAll(/./g, (char, i: number) =>
        (n >> (i % 6)) & 1 ? char.toUpperCase() : char,
      );

    const replies = await times(50, (n) =>
      api.post('/auth/register/', { email: mixed(n), name: 'R', password: PASSWORD }, from(n)),
    );

    expect([count(replies, 201), count(replies, 409)]).toEqual([1, 49]);
    await api.accounts.login('race@example.com');
  });

  it('concurrent refreshes and logouts of one token: one logout succeeds, and the login has ended', async () => {
    for (let round = 0; round < 10; round++) {
      const { refresh: token } = await api.accounts.login('ada@example.com');

      const [refreshes, logouts] = await Promise.all([
        times(10, () => refresh(token)),
        times(10, () => api.post('/auth/logout/', { refresh: token })),
      ]);

      expect([count(logouts, 200), count(logouts, 401)]).toEqual([1, 9]);
      expect(count(refreshes, 200)).toBeLessThanOrEqual(1);
      for (const { body } of refreshes.filter(({ status }) => status === 200)) {
        expect(await refresh(body.refresh)).toBeError('TOKEN_NOT_VALID');
      }
    }
  });

  const client = { address: '127.0.0.1', agent: '' };

  /** Registers an account, and returns functions that store a login of it and change its password. */
  async function beginLogin(email: string) {
    const { id } = await api.accounts.register(email);
    const own = await api.accounts.login(email);
    const account = (await api.app.get(AccountsService).find(id))!;
    const open = () => api.app.get(TokensService).open(new Authenticated(account), client);
    const change = () =>
      api.post(
        '/auth/change-password/',
        { old_password: PASSWORD, new_password: 'another password' },
        bearer(own.access),
      );
    return { own, open, change };
  }

  it('a login that is stored after a password change, but has checked the old password, is rejected', async () => {
    const { own, open, change } = await beginLogin('after@example.com');
    expect(await change()).toHaveStatus(200);

    await expect(open()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });

    expect(await logins('after@example.com')).toBe(1);
    expect(await refresh(own.refresh)).toHaveStatus(200);
  });

  it('a login that is being stored while the password changes is ended by the change', async () => {
    const { own, open, change } = await beginLogin('during@example.com');
    let start!: () => void;
    const changed = new Promise<void>((resolve) => (start = resolve)).then(change);

    const outside = AsyncLocalStorage.snapshot();
    await api.rows.run(async () => {
      await open();
      start();
      // The change must wait for this transaction. Without the wait, it would complete.
      await Promise.race([changed, outside(() => untilBlocked(api, store))]);
    });

    expect(await changed).toHaveStatus(200);
    expect(await logins('during@example.com')).toBe(1);
    expect(await refresh(own.refresh)).toHaveStatus(200);
  });

  it('logins while the account is deactivated: none remains', async () => {
    await api.accounts.register('off@example.com');

    const requests = times(20, () =>
      api.post('/auth/login/', { email: 'off@example.com', password: PASSWORD }),
    );
    await until('there is a login', async () => (await logins('off@example.com')) > 0);
    await api.accounts.admin().setActive('off@example.com', false);
    await requests;

    expect(await logins('off@example.com')).toBe(0);
  });

  it('150 concurrent registrations do not prevent a login', async () => {
    await api.accounts.register('patient@example.com');
    const registrations = Array.from({ length: 150 }, (_, n) =>
      api.post('/auth/register/', { email: `flood${n}@example.com`, name: 'F', password: PASSWORD }, from(n)),
    );
    await firstRejectionOf(registrations);

    expect(
      await api.post('/auth/login/', { email: 'patient@example.com', password: PASSWORD }, from(200)),
    ).toHaveStatus(200);

    const replies = await Promise.all(registrations);
    expect(count(replies, 503)).toBeGreaterThan(0);
    expect(count(replies, 201) + count(replies, 503)).toBe(150);
  });
});

// At full cost: a quick hash would free its place while the other requests arrive.
onEach('the queue of passwords', { settings: { TRUST_PROXY: '127.0.0.1' }, modules: [] }, ({ api }) => {
  it('more concurrent logins than the queue can hold: the others get 503', async () => {
    await api.accounts.register('many@example.com');

    const replies = await times(200, (n) =>
      api.post('/auth/login/', { email: 'many@example.com', password: PASSWORD }, from(n)),
    );

    const rejected = replies.filter(({ status }) => status !== 200);
    expect(rejected.length).toBeGreaterThan(0);
    expect(count(replies, 200)).toBeGreaterThanOrEqual(128);
    for (const reply of rejected) expect(reply).toBeError('SERVICE_UNAVAILABLE');
  });

  it('one address uses at most a quarter of the queue', async () => {
    await api.accounts.register('share@example.com');
    const login = (address: number) =>
      api.post('/auth/login/', { email: 'share@example.com', password: PASSWORD }, from(address));

    const attempts = Array.from({ length: 100 }, () => login(1));
    await firstRejectionOf(attempts);
    const other = await login(2);
    const greedy = await Promise.all(attempts);

    expect(count(greedy, 503)).toBeGreaterThanOrEqual(100 - 32 - 3);
    expect(count(greedy, 200) + count(greedy, 503)).toBe(100);
    expect(other).toHaveStatus(200);
  });
});
