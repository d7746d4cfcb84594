import { describe, expect, it } from '@jest/globals';
import { bearer } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('WRITE_ACCESS on %s', (store) => {
  /** Creates, changes and deletes a dummy. @returns the responses */
  async function write(api: TestApi, headers: Record<string, string>) {
    const created = await api.post('/v1/dummies', { text: 'T' }, headers);
    const id = created.body.data?.id ?? 1;
    const changed = await api.patch(`/v1/dummies/${id}`, { text: 'U' }, headers);
    return [created, changed, await api.delete(`/v1/dummies/${id}`, headers)];
  }

  it('=authenticated allows every account to write, and requires a valid token', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    const user = await api.accounts.logInNew('user@example.com');

    expect((await write(api, user)).map(({ status }) => status)).toEqual([201, 200, 204]);
    for (const reply of await write(api, bearer('garbage'))) expect(reply).toBeError('TOKEN_NOT_VALID');
    await api.accounts.admin().setActive('user@example.com', false);
    for (const reply of await write(api, user)) expect(reply).toBeError('TOKEN_NOT_VALID');
    expect(await api.dummies.count()).toBe(0);
    await api.stop();
  });

  it('=staff allows only staff to write', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'staff' }, [FixtureModule]);
    const user = await api.accounts.logInNew('user@example.com');
    const staff = await api.accounts.logInNewStaff();

    expect((await write(api, staff)).map(({ status }) => status)).toEqual([201, 200, 204]);
    for (const reply of await write(api, user)) expect(reply).toBeError('FORBIDDEN');
    expect(await api.get('/v1/dummies', bearer('garbage'))).toHaveStatus(200);
    expect(await api.dummies.count()).toBe(0);
    await api.stop();
  });

  it.each(['authenticated', 'staff'])(
    '=%s rejects anonymous writes, and allows anonymous reads',
    async (mode) => {
      const api = await startApi(store, { WRITE_ACCESS: mode }, [FixtureModule]);

      expect(await api.post('/v1/dummies', { text: 'T' })).toBeError('UNAUTHENTICATED');
      expect(await api.post('/v1/dummies', '{broken')).toBeError('UNAUTHENTICATED');
      expect(await api.patch('/v1/dummies/abc', {})).toBeError('UNAUTHENTICATED');
      expect(await api.delete('/v1/dummies/1')).toBeError('UNAUTHENTICATED');
      expect(await api.get('/v1/dummies')).toHaveStatus(200);
      expect(await api.send({ method: 'HEAD', url: '/v1/dummies' })).toHaveStatus(200);
      expect(await api.dummies.count()).toBe(0);
      await api.stop();
    },
  );

  it('=open ignores credentials', async () => {
    const api = await startApi(store, {}, [FixtureModule]);

    for (const authorization of ['Bearer garbage', 'Basic x', 'Bearer']) {
      const reply = await api.post('/v1/dummies', { text: 'T' }, { authorization });
      expect(reply).toHaveStatus(201);
    }
    await api.stop();
  });
});
