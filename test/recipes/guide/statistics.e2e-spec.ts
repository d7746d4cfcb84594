import { expect, it } from '@jest/globals';
import { onEach } from '../../support/on-each.js';
import { statementsOf } from '../../support/statements.js';
import { StatisticsModule } from './statistics/statistics.module.js';

onEach('statistics', { modules: [StatisticsModule] }, ({ api }) => {
  it('of accounts are read from the database once per minute', async () => {
    expect((await api.get('/v1/statistics/accounts')).body).toEqual({ accounts: 0 });
    await api.accounts.register('ada@example.com');

    const statements = await statementsOf(async () => {
      expect((await api.get('/v1/statistics/accounts?again')).body).toEqual({ accounts: 0 });
    });
    expect(statements).toEqual([]);
  });

  it('of staff are limited to two requests per minute', async () => {
    const get = () => api.getOnly('/v1/statistics/staff');
    for (const _ of [1, 2]) expect(await get()).toHaveStatus(200);

    expect(await get()).toBeError('RATE_LIMITED');
  });
});
