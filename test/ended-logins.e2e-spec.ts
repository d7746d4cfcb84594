import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi } from './support/api.js';
import { MAILS } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { ENDS, newOwner, type Owner } from './support/ends-of-logins.js';
import { ANY_STORE } from './support/stores.js';
import { until } from './support/until.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

onEach('a login', { settings: { REFRESH_REUSE: 'revoke' }, servers: MAILS }, ({ api, mails }) => {
  let root: Record<string, string>;
  let owner: Owner;
  beforeAll(async () => {
    root = await api.accounts.logInNewSuperuser();
  });
  beforeEach(async () => {
    owner = await newOwner(api, mails, root);
  });

  it.each(ENDS)('is ended at once by %s, which ends %s', async (_, ends, end) => {
    const { email, tokens } = owner;
    const session = await api.accounts.session(email);
    expect(await api.get('/auth/me/', bearer(tokens.access))).toHaveStatus(200);
    await end(owner);

    const headers = bearer(tokens.access);
    expect(await api.get('/auth/me/', headers)).toBeError('TOKEN_NOT_VALID');
    for (const token of Object.values(tokens))
      expect(await api.post('/auth/verify/', { token })).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/refresh/', { refresh: tokens.refresh })).toBeError('TOKEN_NOT_VALID');
    const { status, body } = await api.graphql('{ me { id } }', undefined, headers);
    expect([status, body.errors[0].extensions.code, body.data]).toEqual([401, 'UNAUTHENTICATED', undefined]);
    const ofCookie = await api.get('/auth/session/', session.cookie);
    expect([ofCookie.status, ofCookie.body.error?.code]).toEqual(
      ends === 'all logins' ? [401, 'UNAUTHENTICATED'] : [200, undefined],
    );
  });

  /** Each credential, how long it is valid, and what it is refused with. */
  const CREDENTIALS = [
    ['an access token', 30 * MINUTE, 'TOKEN_NOT_VALID', async () => bearer(owner.tokens.access)],
    ['a session', 14 * DAY, 'UNAUTHENTICATED', async () => (await api.accounts.session(owner.email)).headers],
    [
      'an API key',
      2 * MINUTE,
      'TOKEN_NOT_VALID',
      async () => {
        const expires_at = new Date(Date.now() + 2 * MINUTE).toISOString();
        const key = { name: 'A', scope: 'write', expires_at };
        return bearer((await api.post('/auth/api-keys/', key, await owner.other())).body.data.key);
      },
    ],
  ] as const;

  it.each(
    CREDENTIALS.flatMap(([what, lifetime, code, obtain]) =>
      (
        [
          ['its time is over', async () => api.moveClock(lifetime + 1000)],
          ['its account is inactive', () => api.accounts.admin().setActive(owner.email, false)],
          ['its account is deleted', () => api.accounts.admin().delete(owner.email)],
        ] as const
      ).map(([when, end]) => [what, when, code, obtain, end] as const),
    ),
  )('by %s is refused over REST and GraphQL once %s: %s', async (what, _, code, obtain, end) => {
    const headers = await obtain();
    const read = () => api.get('/auth/me/', headers);
    const ask = async () => (await api.graphql('{ me { id } }', undefined, headers)).body;
    expect(await read()).toHaveStatus(200);
    expect((await ask()).data.me.id).toBe(String(owner.id));
    await end();

    expect(await read()).toBeError(code);
    const { errors, data } = await ask();
    expect(data?.me ?? null).toBeNull();
    // A browser sends its cookie by itself.
    expect(errors?.[0].extensions.code).toBe(what === 'a session' ? undefined : 'UNAUTHENTICATED');
  });

  it('goes on when other logins end, or its own caller changes the password', async () => {
    const headers = bearer(owner.tokens.access);
    await owner.other();
    expect(await api.delete('/auth/sessions/', headers)).toHaveStatus(204);
    expect((await api.get('/auth/sessions/', headers)).body.data).toHaveLength(1);
    const change = { old_password: PASSWORD, new_password: 'another password' };
    expect(await api.post('/auth/change-password/', change, headers)).toHaveStatus(200);
    expect(await api.get('/auth/me/', headers)).toHaveStatus(200);
  });

  it('ends for good after 90 days, however often it is refreshed', async () => {
    let { tokens } = owner;
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

  it('ends for good after 90 days, however often its cookie is used', async () => {
    const session = await api.accounts.session(owner.email);
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
