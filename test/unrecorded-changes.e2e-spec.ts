import { beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { Dummy, DummyStatus } from './support/fixture/dummy.entity.js';
import { onEach } from './support/on-each.js';

onEach('A change without an event', { modules: [FixtureModule] }, ({ api, store }) => {
  let warnings: string[];
  beforeAll(async () => {
    await api.dummies.create();
  });
  beforeEach(() => {
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((text: string) => void warnings.push(text));
  });

  const dummies = () => api.app.get(DataSource).getRepository(Dummy);
  const [text, status, createdAt] = ['New', DummyStatus.open, new Date()];
  const FIELDS = { text, status, createdAt, updatedAt: createdAt };

  it.each<[string, () => Promise<unknown>]>([
    ['save()', () => dummies().save(dummies().create(FIELDS))],
    ['delete()', () => dummies().delete({ text })],
    [
      'a query builder',
      () => dummies().createQueryBuilder().update().set({ counter: 1 }).where({ id: 1 }).execute(),
    ],
    ['a unit of work', () => api.rows.run(() => dummies().update({ id: 1 }, { counter: 1 }))],
  ])('is in the log: %s', async (_, change) => {
    await change();

    expect(warnings).toEqual([expect.stringMatching(/^Rows of dummies were changed without an event: call/)]);
  });

  it('is not seen in what the API does, nor in what was rolled back', async () => {
    const { id } = await api.dummies.create();
    await api.patch(`/v1/dummies/${id}`, { text: 'Robert' });
    await api.delete(`/v1/dummies/${id}`);
    await api.post('/v1/stubs', {}, { 'idempotency-key': 'a' });
    const failed = api.rows.run(async () => {
      await dummies().update({ id: 1 }, { counter: 1 });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');

    expect(warnings).toEqual([]);
  });

  it('is not looked for in production', async () => {
    const settings = { NODE_ENV: 'production', JWT_SECRET: 'ax'.repeat(16), WRITE_ACCESS: 'open' };
    const production = await startApi(store, settings, [FixtureModule]);
    const { id } = await production.dummies.create();
    warnings = [];
    await production.app.get(DataSource).getRepository(Dummy).update({ id }, { counter: 1 });

    expect(warnings).toEqual([]);
    await production.stop();
  });
});
