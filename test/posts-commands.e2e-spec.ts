import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startApiOn, type TestApi } from './support/api.js';
import { runCommand, spawnCommand } from './support/command.js';
import { describeCommands } from './support/command-cases.js';
import { postsOf } from './support/posts.js';
import { queryStore } from './support/rows.js';
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

  /** Writes lines, which are objects or texts, to a file. */
  async function writeLines(lines: readonly (object | string)[]): Promise<string> {
    const file = join(testStore.environment['DATA_DIR']!, 'posts.ndjson');
    const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
    await writeFile(file, texts.join('\n'));
    return file;
  }

  it('import stores a post of the same source once, and leaves it as it was changed since', async () => {
    const [a, b] = ['a', 'b'].map((source) => ({ title: source, content: 'Text', source }));
    const withoutSource = { title: 'c', content: 'Text' };
    const { output: first } = await spawn('posts/import', [await writeLines([a!, b!, withoutSource])]);
    expect(first).toContain('3 posts stored');
    const api = await startApiOn(testStore.environment);
    await api.patch('/v1/posts/1', { title: 'Changed over the API' });

    const lines = [{ ...a, content: 'Other' }, b!, { ...b, source: 'd' }, withoutSource];
    const { code, output } = await run('posts/import', [await writeLines(lines)]);

    expect([code, output]).toEqual([0, expect.stringContaining('2 posts stored')]);
    expect(output).toContain('2 posts already existed');
    const { data } = await list(api);
    expect(data.map(({ title, content }: any) => [title, content])).toEqual([
      ['Changed over the API', 'Text'],
      ['b', 'Text'],
      ['c', 'Text'],
      ['b', 'Text'],
      ['c', 'Text'],
    ]);
    expect((await list(api, 'q=CHANGED')).meta.total).toBe(1);
    const { output: audited } = await run('audit', ['--subject', '/v1/posts']);
    const entries = audited.trimEnd().split('\n');
    // One entry for each import, not for each post.
    expect(entries.map((line) => JSON.parse(line))).toEqual(
      Array.from({ length: 2 }, () =>
        expect.objectContaining({
          account_id: null,
          action: 'command import',
          agent: expect.stringMatching(/^user \S+$/),
        }),
      ),
    );
    // Skipped posts use no ids.
    expect((await postsOf(api).create()).id).toBe(6);

    const twin = { title: 'e', content: 'Text', source: 'e' };
    const { output: twins } = await run('posts/import', [await writeLines([twin, twin])]);
    expect(twins).toMatch(/1 post stored.*\n1 post already existed/);
    await api.stop();
  });

  it('import reads lines of JSON with a byte order mark, U+2028, U+2029 and CR LF, and rejects invalid UTF-8', async () => {
    const file = join(testStore.environment['DATA_DIR']!, 'posts.ndjson');
    const lines = [
      Buffer.from('\uFEFF{"title":"One\u2028two\u2029three","content":"C"}\r\n'),
      Buffer.from('{"title":"caf\xe9","content":"C"}\n', 'latin1'),
      Buffer.from('{"title":"Last","content":"no line break at the end"}'),
    ];
    await writeFile(file, Buffer.concat(lines));

    const { code, output } = await run('posts/import', [file]);

    expect(output).toContain('line 2: is not UTF-8');
    expect(code).toBe(2);
    const api = await startApiOn(testStore.environment);
    expect((await list(api)).data).toMatchObject([{ title: 'One\u2028two\u2029three' }, { title: 'Last' }]);
    await api.stop();
  });

  it('import applies the rules of the API to each line, while the service runs', async () => {
    const api = await startApiOn(testStore.environment);
    const lines = [
      '{"title":"One","content":"C"}',
      '',
      'broken',
      '[]',
      '{"title":"Two","content":"C","status":"published","id":77,"author_id":9}',
      '{"title":"NUL\\u0000","content":"C"}',
      '{"title":"Three","content":"C","status":"archived"}',
      JSON.stringify({ title: 'Four', content: 'C', source: 'x'.repeat(501) }),
    ];
    const done = new AbortController();
    const traffic = (async () => {
      while (!done.signal.aborted) await postsOf(api).create();
    })();

    const { code, output } = await spawn('posts/import', ['-'], { input: lines.join('\n') });
    done.abort();
    await traffic;

    expect(output).toContain('2 posts stored');
    expect(output).toMatch(/line 3: is not JSON/);
    expect(output).toMatch(/line 4: is not a JSON object\n/);
    expect(output).toMatch(/line 6: title must not contain NUL/);
    expect(output).toMatch(/line 7: status must be one of/);
    expect(output).toMatch(/line 8: source must be at most 500 characters long/);
    expect(output).toContain('5 lines rejected');
    expect(code).toBe(2);
    expect((await list(api, 'q=two')).data).toMatchObject([{ title: 'Two', author_id: 1 }]);
    await api.stop();
  });

  it('import can be interrupted, and reports after which line', async () => {
    const count = 200_000;
    const file = join(testStore.environment['DATA_DIR']!, 'posts.ndjson');
    await writeFile(file, '{"title":"T","content":"Some content of a post"}\n'.repeat(count));

    const { code, output } = await spawn('posts/import', [file], { interrupt: true });

    expect(code).toBe(130);
    const [, stored] = /([\d,]+) posts stored/.exec(output)!;
    const [, seen] = /Interrupted after line (\d+)/.exec(output)!;
    expect(Number(stored!.replaceAll(',', ''))).toBe(Number(seen));
    const api = await startApiOn(testStore.environment);
    expect((await list(api)).meta.total).toBe(Number(seen));
    await api.stop();
  });

  it.each([
    ['five hundred posts', 1, 700, 500],
    ['eight million characters, well below the longest possible string', 500_000, 30, 17],
  ])(
    'import keeps what it stored when the database rejects a batch, and can be repeated: %s',
    async (_, length, count, stored) => {
      await run('migrate');
      await queryStore(testStore, 'CREATE UNIQUE INDEX no_twins ON posts (title)');
      const content = 'Some words. '.repeat(length).slice(0, length);
      const lines = Array.from({ length: count }, (__, n) => ({
        title: `Title ${n}`,
        content,
        source: `${n}`,
      }));
      const twin = { ...lines[0], source: 'twin' };
      const file = await writeLines([...lines.slice(0, stored + 3), twin, ...lines.slice(stored + 3)]);

      const { code, output } = await run('posts/import', [file]);

      expect(output).toContain(`${stored} posts stored`);
      expect(output).toContain(`Interrupted after line ${stored}`);
      expect(output).toMatch(/unique/i);
      expect(code).toBe(1);

      await queryStore(testStore, 'DROP INDEX no_twins');
      const { output: rest } = await run('posts/import', [file]);
      expect(rest).toContain(`${count + 1 - stored} posts stored`);
      expect(rest).toContain(`${stored} posts already existed`);
    },
  );

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
    ['posts/import', [], 'Usage: npm run import'],
    ['posts/import', ['/nowhere'], 'There is no file /nowhere'],
    ['posts/import', ['--update', '-'], "Unknown option '--update'"],
    ['posts/seed', ['--posts', 'many'], '--posts must be a whole number from 1'],
    ['posts/seed', ['--pots', '1'], "Unknown option '--pots'"],
  ])('%s %j fails with one line', async (name, parameters, message) => {
    const { code, output } = await run(name, parameters);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toMatch(/\n\s+at /);
  });
});

const WRITING = [
  ['posts/seed', ['--posts', '1']],
  ['posts/import', ['-']],
] as const;

describeCommands('the usage and the database of commands of posts', {
  printUsage: ['posts/seed', 'posts/import'],
  rejectOldSchema: WRITING,
  nameDatabase: WRITING,
  askToCreate: WRITING,
  createDatabase: [
    ['posts/seed', ['--posts', '3'], 'yes\n', '3 posts in '],
    ['posts/import', ['--yes', '-'], '{"title":"T","content":"C"}', '1 post stored'],
  ],
  reportMistakes: [
    ['posts/seed', ['--posts', 'many'], '--posts must be a whole number from 1'],
    ['posts/import', ['/nowhere'], 'There is no file /nowhere'],
  ],
});
