import { describe, expect, it, jest } from '@jest/globals';
import { BackgroundTasks } from '../src/platform/jobs/background-task.js';
import { Clock } from '../src/platform/jobs/clock.js';
import { Purger, PurgeSchedule } from '../src/platform/jobs/purger.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { startApi, type TestApi } from './support/api.js';
import { onlyFake } from './support/fake-timers.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE, STORES } from './support/stores.js';

/** More rows than one transaction deletes. */
const EXPIRED = 1200;

async function addFailures(api: TestApi, name: string, count: number, expiresAt: Date): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => `('${name}${n}', 1, '${expiresAt.toISOString()}')`);
  await api.rows.execute(`INSERT INTO counters (id, count, expires_at) VALUES ${rows.join(', ')}`);
}

const failures = (api: TestApi) => api.rows.all<{ id: string }>('SELECT id FROM counters ORDER BY id');

describe.each(STORES)('a purge on %s', (store) => {
  it('deletes all expired rows, and no others', async () => {
    const api = await startApi(store);
    await addFailures(api, 'old', EXPIRED, new Date(Date.now() - 1000));
    await addFailures(api, 'new', 2, new Date(Date.now() + 60_000));

    const counts = await api.app.get(Purger).purge();

    expect(counts.get('counters')).toBe(EXPIRED);
    expect(await failures(api)).toEqual([{ id: 'new0' }, { id: 'new1' }]);
    await api.stop();
  });

  it('deletes what it can, and then fails, if a table cannot be purged', async () => {
    const api = await startApi(store);
    await addFailures(api, 'old', 3, new Date(Date.now() - 1000));
    const purger = new Purger(api.app.get(Transactions), api.app.get(Clock));
    for (const table of ['no_such_table', 'counters']) purger.register(table);

    await expect(purger.purge()).rejects.toThrow('no_such_table');

    expect(await failures(api)).toEqual([]);
    await api.stop();
  });

  it('deletes in batches, so that other writes run in between', async () => {
    const api = await startApi(store, {}, [FixtureModule]);
    await addFailures(api, 'old', EXPIRED, new Date(Date.now() - 1000));

    const purge = api.app.get(Purger).purge();
    const replies = await Promise.all(Array.from({ length: 20 }, () => api.dummies.create()));

    expect(replies.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    await purge;
    expect(await failures(api)).toEqual([]);
    await api.stop();
  });
});

describe('a purge on PostgreSQL', () => {
  it('deletes each row once when several replicas purge at the same time', async () => {
    const api = await startApi('PostgreSQL');
    const replica = await api.replica();
    await addFailures(api, 'old', EXPIRED, new Date(Date.now() - 1000));

    const counts = await Promise.all([api, replica, api, replica].map(({ app }) => app.get(Purger).purge()));

    const total = counts.reduce((sum, count) => sum + count.get('counters')!, 0);
    expect(total).toBe(EXPIRED);
    expect(await failures(api)).toEqual([]);
    await replica.stop();
    await api.stop();
  });
});

onEach('the schedule of purges', {}, ({ api }) => {
  it('starts a purge when its timer fires', async () => {
    await addFailures(api, 'old', 3, new Date(Date.now() - 1000));
    const purger = new Purger(api.app.get(Transactions), api.app.get(Clock));
    purger.register('counters');
    const tasks = new BackgroundTasks(api.config);
    new PurgeSchedule(purger, tasks);

    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
    try {
      await tasks.onApplicationBootstrap();
      // The next timer is that of the schedule; those of the database keep running in real time.
      jest.advanceTimersToNextTimer();
    } finally {
      jest.useRealTimers();
    }
    // Waits for the purge to finish.
    await tasks.beforeApplicationShutdown();

    expect(await failures(api)).toEqual([]);
  });
});

it('the schedule of purges starts the next one after one that failed', async () => {
  const api = await startApi(ANY_STORE);
  const purger = new Purger(api.app.get(Transactions), api.app.get(Clock));
  const fail = jest.fn(() => Promise.reject(new Error('No database')));
  purger.registerTask('rows', fail);
  const tasks = new BackgroundTasks(api.config);
  new PurgeSchedule(purger, tasks);
  // Its timers would become fake ones, too.
  await api.stop();

  jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
  try {
    await tasks.onApplicationBootstrap();
    await jest.advanceTimersToNextTimerAsync(2);
    expect(fail).toHaveBeenCalledTimes(2);
    await tasks.beforeApplicationShutdown();
  } finally {
    jest.useRealTimers();
  }
});
