import { beforeEach, expect, it } from '@jest/globals';
import { bearer, PASSWORD, type Tokens } from './support/accounts.js';
import { startApi } from './support/api.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE } from './support/stores.js';
import { until } from './support/until.js';

const DAY = 24 * 3600_000;

const sidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sid;

onEach('an access token', { settings: { REFRESH_REUSE: 'revoke' } }, ({ api }) => {
  let email: string;
  let tokens: Tokens;
  let count = 0;
  beforeEach(async () => {
    email = `ended${++count}@example.com`;
    await api.accounts.register(email);
    tokens = await api.accounts.login(email);
  });

  const other = async () => bearer((await api.accounts.login(email)).access);

  it.each<[string, () => Promise<unknown>]>([
    ['logout', () => api.post('/auth/logout/', { refresh: tokens.refresh })],
    [
      'DELETE /auth/sessions/{id}/',
      async () => api.delete(`/auth/sessions/${sidOf(tokens.access)}/`, await other()),
    ],
    ['DELETE /auth/sessions/ of another login', async () => api.delete('/auth/sessions/', await other())],
    [
      'a change of the password in another login',
      async () =>
        api.post(
          '/auth/change-password/',
          { old_password: PASSWORD, new_password: 'another password' },
          await other(),
        ),
    ],
    [
      'a reused refresh token',
      async () => {
        await api.post('/auth/refresh/', { refresh: tokens.refresh });
        api.moveClock(11_000);
        await api.post('/auth/refresh/', { refresh: tokens.refresh });
      },
    ],
    ['deactivation', () => api.accounts.admin().setActive(email, false)],
    ['deletion', () => api.accounts.admin().delete(email)],
    ['a new password by an operator', () => api.accounts.setPassword(email, 'another password')],
  ])('ends with its login at once: by %s', async (_, end) => {
    expect(await api.get('/auth/me/', bearer(tokens.access))).toHaveStatus(200);
    await end();

    const headers = bearer(tokens.access);
    expect(await api.get('/auth/me/', headers)).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/verify/', { token: tokens.access })).toBeError('TOKEN_NOT_VALID');
    const { status, body } = await api.graphql('{ me { id } }', undefined, headers);
    expect([status, body.errors[0].extensions.code, body.data]).toEqual([401, 'UNAUTHENTICATED', undefined]);
  });

  it('stays valid when other logins end, or its own caller changes the password', async () => {
    const headers = bearer(tokens.access);
    await other();
    expect(await api.delete('/auth/sessions/', headers)).toHaveStatus(204);
    expect((await api.get('/auth/sessions/', headers)).body.data).toHaveLength(1);
    const change = { old_password: PASSWORD, new_password: 'another password' };
    expect(await api.post('/auth/change-password/', change, headers)).toHaveStatus(200);
    expect(await api.get('/auth/me/', headers)).toHaveStatus(200);
  });

  it('and its refresh token end for good 90 days after the login began', async () => {
    let { refresh } = tokens;
    for (let day = 6; day < 90; day += 6) {
      api.moveClock(day * DAY);
      const reply = await api.post('/auth/refresh/', { refresh });
      expect(reply).toHaveStatus(200);
      refresh = reply.body.refresh;
      tokens = reply.body;
    }
    api.moveClock(90 * DAY - 60_000);
    tokens = (await api.post('/auth/refresh/', { refresh })).body;
    expect(await api.get('/auth/me/', bearer(tokens.access))).toHaveStatus(200);

    api.moveClock(90 * DAY + 1000);
    expect(await api.get('/auth/me/', bearer(tokens.access))).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/refresh/', { refresh: tokens.refresh })).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/logout/', { refresh: tokens.refresh })).toBeError('TOKEN_NOT_VALID');
  });

  it('by cookie, too', async () => {
    const session = await api.accounts.session(email);
    for (let day = 10; day < 90; day += 10) {
      api.moveClock(day * DAY);
      expect(await api.get('/auth/session/', session.cookie)).toHaveStatus(200);
      // The use is recorded in the background.
      const list = async () => (await api.get('/auth/sessions/', session.cookie)).body.data[0].last_used_at;
      const now = new Date(Date.now() + day * DAY).toISOString().slice(0, 10);
      await until('the use is recorded', async () => (await list()).startsWith(now));
    }
    api.moveClock(90 * DAY + 1000);
    expect(await api.get('/auth/session/', session.cookie)).toBeError('UNAUTHENTICATED');
  });
});

it('LOGIN_MAX_DAYS changes when logins end', async () => {
  const api = await startApi(ANY_STORE, { LOGIN_MAX_DAYS: '1' });
  await api.accounts.register('ada@example.com');
  const { refresh } = await api.accounts.login('ada@example.com');
  api.moveClock(DAY + 1000);
  expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');
  await api.stop();
});
