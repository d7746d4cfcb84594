import { expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { onEach } from '../../support/on-each.js';
import { AccountCleanup, CleanupModule } from './cleanup/cleanup.module.js';

const DAY = 24 * 60 * 60 * 1000;

onEach('accounts that nobody uses', { modules: [CleanupModule] }, ({ api }) => {
  it('are deleted every night after two years', async () => {
    for (const email of ['ada@example.com', 'grace@example.com']) {
      await api.accounts.register(email);
      await api.accounts.login(email);
    }
    expect(api.app.get(SchedulerRegistry).getCronJob('account-cleanup').isActive).toBe(true);

    const cleanup = api.app.get(AccountCleanup);
    api.moveClock(729 * DAY);
    await cleanup.run();
    await api.accounts.login('ada@example.com');
    await api.accounts.login('grace@example.com');

    api.moveClock(1458 * DAY);
    await api.accounts.login('grace@example.com');
    api.moveClock(1460 * DAY);
    await cleanup.run();
    await expect(api.accounts.admin().get('ada@example.com')).rejects.toThrow('There is no account');
    expect(await api.accounts.login('grace@example.com')).toHaveProperty('access');
  });
});
