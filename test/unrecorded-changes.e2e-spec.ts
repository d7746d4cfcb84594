import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Transactions } from '../src/platform/database/transactions.js';
import { User } from '../src/users/user.entity.js';
import { startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('A change without an event on %s', (store) => {
  let api: TestApi;
  let warnings: string[];
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());
  beforeEach(() => {
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((text: string) => void warnings.push(text));
  });

  const users = () => api.app.get(DataSource).getRepository(User);
  const FIELDS = { name: 'Ada', email: '', createdAt: new Date(), updatedAt: new Date() };

  it.each<[string, () => Promise<unknown>]>([
    ['save()', () => users().save(users().create(FIELDS))],
    ['delete()', () => users().delete({ name: 'Ada' })],
    [
      'a query builder',
      () => users().createQueryBuilder().update().set({ email: '' }).where({ id: 1 }).execute(),
    ],
    ['a unit of work', () => api.app.get(Transactions).run(() => users().update({ id: 1 }, { email: '' }))],
  ])('is in the log: %s', async (_, change) => {
    await change();

    expect(warnings).toEqual([expect.stringMatching(/^Rows of users were changed without an event: call/)]);
  });

  it('is not seen in what the API does, nor in what was rolled back', async () => {
    const { id } = (await api.post('/v2/users', { name: 'Bob' })).body.data;
    await api.patch(`/v2/users/${id}`, { name: 'Robert' });
    await api.delete(`/v2/users/${id}`);
    await api.posts.create();
    const failed = api.app.get(Transactions).run(async () => {
      await users().update({ id: 1 }, { email: '' });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');

    expect(warnings).toEqual([]);
  });

  it('is not looked for in production', async () => {
    const settings = { NODE_ENV: 'production', JWT_SECRET: 'ax'.repeat(16), WRITE_ACCESS: 'open' };
    const production = await startApi(store, settings);
    warnings = [];
    await production.app.get(DataSource).getRepository(User).update({ id: 1 }, { email: '' });

    expect(warnings).toEqual([]);
    await production.stop();
  });
});
