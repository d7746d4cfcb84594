import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApiOn, type TestApi } from '../../support/api.js';
import { runCommand } from '../../support/command.js';
import { createStore, STORES, type TestStore } from '../../support/stores.js';
import { TasksModule } from './tasks/tasks.module.js';

describe.each(STORES)('npm run fill on %s', (store) => {
  let testStore: TestStore;
  let api: TestApi;
  beforeAll(async () => {
    testStore = await createStore(store);
    api = await startApiOn(testStore.environment, [TasksModule]);
  });
  afterAll(async () => {
    await api.stop();
    await testStore.remove();
  });

  it('fills the column while the service runs', async () => {
    const task = { title: 'a', status: 'open', priority: 1 };
    for (let n = 0; n < 3; n++) await api.post('/v1/tasks', task);

    const { code, output } = await runCommand('fill', [], testStore);

    expect(output).toContain('Filled in');
    expect(code).toBe(0);
    expect(await api.post('/v1/tasks', task)).toHaveStatus(201);
  });
});
