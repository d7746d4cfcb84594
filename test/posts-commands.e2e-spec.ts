import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startApiOn, type TestApi } from './support/api.js';
import { runCommand, spawnCommand } from './support/command.js';
import { describeCommands } from './support/command-cases.js';
import { createStore, STORES, type TestStore } from './support/stores.js';

describe.each(STORES)('commands of posts on %s', (store) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await createStore(store);
  });
  afterEach(() => testStore.remove());

  /** `run` executes a command in this process, `spawn` in a child process. */
  const using =
    (runIt: typeof runCommand) =>
    (name: string, parameters: string[] = [], options: { input?: string; interrupt?: boolean } = {}) =>
      runIt(name, parameters, { environment: testStore.environment, ...options });
  const run = using(runCommand);
  const spawn = using(spawnCommand);

  const list = async (api: TestApi, search = '') => (await api.get(`/v1/posts?sort_dir=asc&${search}`)).body;

  it('seed creates the same posts for the same number', async () => {
    expect((await spawn('posts/seed', ['--posts', '2500'])).output).toContain('2,500 posts in');

    const api = await startApiOn(testStore.environment);
    const page = await list(api, 'limit=3');
    expect(page.meta.total).toBe(2500);
    expect(page.data.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3]);
    expect(page.data[0].title).toMatch(/ 0$/);
    await api.stop();
  });

  it.each([
    ['posts/seed', ['--posts', 'many'], '--posts must be a whole number from 1'],
    ['posts/seed', ['--pots', '1'], "Unknown option '--pots'"],
  ])('%s %j fails with one line', async (name, parameters, message) => {
    const { code, output } = await run(name, parameters);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toMatch(/\n\s+at /);
  });
});

const WRITING = [['posts/seed', ['--posts', '1']]] as const;

describeCommands('the usage and the database of commands of posts', {
  printUsage: ['posts/seed'],
  rejectOldSchema: WRITING,
  nameDatabase: WRITING,
  askToCreate: WRITING,
  createDatabase: [['posts/seed', ['--posts', '3'], 'yes\n', '3 posts in ']],
  reportMistakes: [['posts/seed', ['--posts', 'many'], '--posts must be a whole number from 1']],
});
