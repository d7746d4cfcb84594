import { beforeAll, describe, expect, it } from '@jest/globals';
import { AccessModule } from './support/access.module.js';
import { bearer } from './support/accounts.js';
import { type Reply, startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { STORES } from './support/stores.js';

interface Callers {
  readonly id: number;
  readonly user: Record<string, string>;
  readonly staff: Record<string, string>;
}

async function register(api: TestApi): Promise<Callers> {
  const { id } = await api.accounts.register('user@example.com');
  const user = bearer((await api.accounts.login('user@example.com')).access);
  return { id, user, staff: await api.accounts.logInNewStaff() };
}

onEach('access over REST', { modules: [AccessModule] }, ({ api, store }) => {
  let callers: Callers;
  beforeAll(async () => {
    callers = await register(api);
  });

  const get = (name: string, headers?: Record<string, string>) => api.get(`/v1/access/${name}`, headers);

  it('requires an account by default', async () => {
    expect((await get('default', callers.user)).body).toEqual({ id: callers.id });
    expect(await get('default')).toBeError('UNAUTHENTICATED');
    expect(await get('default', bearer('garbage'))).toBeError('TOKEN_NOT_VALID');
  });

  it('allows anonymous requests with @Public(), and ignores credentials', async () => {
    for (const headers of [{}, callers.user, bearer('garbage')]) {
      expect((await get('public', headers)).body).toEqual({ id: null });
    }
  });

  it('requires staff with @StaffOnly()', async () => {
    expect(await get('staff', callers.staff)).toHaveStatus(200);
    expect(await get('staff', callers.user)).toBeError('FORBIDDEN');
    expect(await get('staff')).toBeError('UNAUTHENTICATED');
    expect(await get('staff', bearer('garbage'))).toBeError('TOKEN_NOT_VALID');
  });

  it('follows the decorator of the handler over that of its class', async () => {
    expect(await api.delete('/v1/governed', callers.user)).toBeError('FORBIDDEN');
    expect(await api.delete('/v1/governed', callers.staff)).toHaveStatus(200);
    expect(await api.post('/v1/governed', {})).toHaveStatus(201);
    expect((await api.get('/v1/governed/account', callers.user)).body).toEqual({ id: callers.id });
    expect(await api.get('/v1/governed/account')).toBeError('UNAUTHENTICATED');
  });

  it('uses the current role of the account, not that of its token', async () => {
    // Whatever changes it: the calls of the service end the login as well.
    const setStaff = (isStaff: number) =>
      api.rows.execute(`UPDATE accounts SET is_staff = :isStaff WHERE email = 'staff@example.com'`, {
        isStaff,
      });
    await setStaff(0);
    expect(await get('staff', callers.staff)).toBeError('FORBIDDEN');
    await setStaff(1);
  });

  it('responds with 503 when the table of accounts is lost', async () => {
    const broken = await startApi(store, {}, [AccessModule]);
    const { user } = await register(broken);
    await broken.accounts.removeTable();

    expect(await broken.get('/v1/access/default', user)).toBeError('SERVICE_UNAVAILABLE');
    await broken.stop();
  });
});

describe.each(STORES)('access over GraphQL on %s', (store) => {
  async function start(settings: Record<string, string> = {}) {
    const api = await startApi(store, settings, [AccessModule, FixtureModule]);
    return { api, callers: await register(api) };
  }

  const MUTATION = 'mutation { createDummy(input: { text: "A" }) { text } }';
  const created = { data: { createDummy: { text: 'A' } } };

  const code = ({ status, body }: Reply) => [status, body.errors?.[0].extensions.code];

  it('follows WRITE_ACCESS for mutations, and allows queries in each mode', async () => {
    const open = await start();
    expect((await open.api.graphql(MUTATION)).body).toEqual(created);
    await open.api.stop();

    const authenticated = await start({ WRITE_ACCESS: 'authenticated' });
    expect((await authenticated.api.graphql('{ dummies { nodes { id } } }')).body.errors).toBeUndefined();
    expect((await authenticated.api.graphql(MUTATION, {}, authenticated.callers.user)).body).toEqual(created);
    const rejected = await authenticated.api.graphql(MUTATION);
    expect(code(rejected)).toEqual([200, 'UNAUTHENTICATED']);
    expect(rejected.body.data).toBeNull();
    expect(await authenticated.api.dummies.count()).toBe(1);
    await authenticated.api.stop();

    const staff = await start({ WRITE_ACCESS: 'staff' });
    expect((await staff.api.graphql('{ dummies { nodes { id } } }')).body.errors).toBeUndefined();
    expect(code(await staff.api.graphql(MUTATION, {}, staff.callers.user))).toEqual([200, 'FORBIDDEN']);
    expect((await staff.api.graphql(MUTATION, {}, staff.callers.staff)).body).toEqual(created);
    expect(await staff.api.dummies.count()).toBe(1);
    await staff.api.stop();
  });

  it('follows @Public(), @StaffOnly() and the default, and passes the account to the resolver', async () => {
    const { api, callers } = await start();

    expect((await api.graphql('{ forEveryone }')).body.data).toEqual({ forEveryone: null });
    expect((await api.graphql('{ forEveryone }', {}, callers.user)).body.data.forEveryone).toBe(callers.id);
    expect((await api.graphql('{ forAccounts }', {}, callers.user)).body.data.forAccounts).toBe(callers.id);
    expect(code(await api.graphql('{ forAccounts }'))).toEqual([200, 'UNAUTHENTICATED']);
    expect(code(await api.graphql('{ forStaff }', {}, callers.user))).toEqual([200, 'FORBIDDEN']);
    expect((await api.graphql('{ forStaff }', {}, callers.staff)).body.errors).toBeUndefined();
    await api.stop();
  });

  it('treats blank credentials and other schemes as anonymous, and rejects invalid tokens', async () => {
    const { api } = await start();
    const { refresh } = await api.accounts.login('user@example.com');

    for (const authorization of ['', 'Bearer', 'Bearer ', 'bearer   ', 'Basic dXNlcjpwYXNz']) {
      expect((await api.graphql('{ forEveryone }', {}, { authorization })).body).toEqual({
        data: { forEveryone: null },
      });
    }
    for (const token of ['garbage', refresh]) {
      const reply = await api.graphql('{ dummies { nodes { id } } }', {}, bearer(token));
      expect(code(reply)).toEqual([401, 'UNAUTHENTICATED']);
      expect(reply.body).not.toHaveProperty('data');
      expect(reply.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    }
    await api.stop();
  });

  it('responds with 503 when the table of accounts is lost', async () => {
    const { api, callers } = await start();
    await api.accounts.removeTable();

    expect(code(await api.graphql('{ forEveryone }', {}, callers.user))).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
    ]);
    await api.stop();
  });
});
