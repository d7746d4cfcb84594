import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadStoreConfig } from '../src/platform/config/store.js';
import { commandDataSource } from '../src/platform/database/data-source.js';
import { startApiOn } from './support/api.js';
import { runCommand } from './support/command.js';
import { ANY_STORE, createStore, ifEmbedded, STORES, type TestStore } from './support/stores.js';

describe.each(STORES)('commands on %s', (store) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await createStore(store);
  });
  afterEach(() => testStore.remove());

  const run = (name: string, parameters: string[] = []) =>
    runCommand(name, parameters, { environment: testStore.environment });

  it.each(['migrate', 'move', 'account'])('%s --help prints its usage, and changes nothing', async (name) => {
    for (const flag of ['--help', '-h']) {
      const { code, output } = await run(name, [flag]);
      expect([code, output]).toEqual([0, expect.stringMatching(/^Usage: npm run /)]);
    }
    const { code, output } = await run(name, ['--frobnicate']);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining("Unknown option '--frobnicate'\n\nUsage: npm"),
    ]);
    const api = await startApiOn(testStore.environment);
    expect(await api.rows.all('SELECT id FROM accounts')).toEqual([]);
    await api.stop();
  });

  it.each([
    ['audit', []],
    ['account', ['list']],
    ['account', ['purge']],
    ['events', ['renew-epoch']],
  ])('%s %j rejects an older schema, and does not change it', async (name, parameters) => {
    const config = loadStoreConfig(testStore.environment);
    const ran = async () => {
      const source = await commandDataSource(config).initialize();
      const rows = await source.query('SELECT name FROM migrations ORDER BY id');
      await source.destroy();
      return rows.map((row: { name: string }) => row.name);
    };
    const source = await commandDataSource(config).initialize();
    await source.query('DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)');
    await source.destroy();
    const before = await ran();

    const { code, output } = await run(name, parameters);

    expect(code).toBe(1);
    expect(output).toMatch(
      /The schema of the database is older than this build \(.+\): 1 migration is pending; run npm run migrate first\n$/,
    );
    expect(await ran()).toEqual(before);
  });

  it('name the database before they write, without its password', async () => {
    const { DATA_DIR, DATABASE_URL } = testStore.environment;
    const { host, pathname } = new URL(DATABASE_URL ?? 'file:///');
    const place = store === 'SQLite' ? `SQLite in ${DATA_DIR}` : `PostgreSQL at ${host}${pathname}`;
    for (const [name, ...parameters] of [['migrate'], ['events', 'renew-epoch'], ['account', 'purge']]) {
      const { code, output } = await run(name!, parameters);
      expect([name, code, output.split('\n', 1)[0]]).toEqual([name, 0, `Database: ${place}`]);
    }
  });
});

ifEmbedded(describe)('a command without a database', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await createStore(ANY_STORE, { empty: true });
  });
  afterEach(() => store.remove());

  const run = (name: string, parameters: string[] = [], input = '') =>
    runCommand(name, parameters, { environment: store.environment, input });
  const file = () => join(store.environment['DATA_DIR']!, 'database.sqlite');
  const SUPERUSER = ['create-superuser', '--email', 'ada@example.com', '--name', 'Ada'];

  it.each([
    ['audit', []],
    ['account', ['list']],
    ['account', ['show', 'ada@example.com']],
    ['events', ['tail']],
  ])('%s %j creates none', async (name, parameters) => {
    const { code, output } = await run(name, parameters);

    expect([code, output]).toEqual([
      1,
      expect.stringMatching(
        /^There is no database yet \(SQLite in .+\): start the service, or run npm run migrate\n$/,
      ),
    ]);
    expect(existsSync(file())).toBe(false);
  });

  it('says so for an empty file, too', async () => {
    writeFileSync(file(), '');

    const { code, output } = await run('audit');

    expect([code, output]).toEqual([1, expect.stringContaining('There is no database yet')]);
  });

  it.each([
    ['migrate', []],
    ['account', SUPERUSER],
    ['events', ['renew-epoch']],
  ])('%s %j asks before it creates one', async (name, parameters) => {
    for (const input of ['', 'n\n', 'secret\n']) {
      const { code, output } = await run(name, parameters, input);
      expect([code, output.split('\n')]).toEqual([
        1,
        [
          `Database: SQLite in ${store.environment['DATA_DIR']}`,
          'There is no database there yet; this command creates a new one.',
          'Create a new database? (y/N) ',
          'Cancelled, nothing was changed; answer y, or pass --yes to skip the question',
          '',
        ],
      ]);
      expect(existsSync(file())).toBe(false);
    }
  });

  it.each([
    ['migrate', [], 'y\n', 'Migrations run: '],
    ['migrate', ['--yes'], '', 'Migrations run: '],
    ['account', SUPERUSER, 'y\nA long passphrase\n', 'is a superuser'],
  ])('%s %j creates one after the answer %j', async (name, parameters, input, expected) => {
    const { code, output } = await run(name, parameters, input);

    expect([code, output]).toEqual([0, expect.stringContaining(expected)]);
    expect((await run('audit')).code).toBe(0);
  });

  it.each([
    ['account', ['frobnicate'], 'There is no command frobnicate'],
    ['events', ['frobnicate'], 'There is no command frobnicate'],
  ])('%s %j reports the mistake first', async (name, parameters, message) => {
    const { code, output } = await run(name, parameters, 'y\n');

    expect(code).toBe(1);
    expect(output.split('\n', 1)[0]).toBe(message);
    expect(existsSync(file())).toBe(false);
  });
});

describe('every script', () => {
  const scripts = [
    ['dist/main.js'],
    ['dist/commands/contracts.js'],
    ['tools/build.ts'],
    ['tools/make-module.ts'],
    ['bench/posts/run.ts'],
    ['bench/posts/scale.ts'],
    ['bench/login.ts'],
    ['bench/posts/soak.ts'],
    ['test/crash/crash.ts'],
    ['examples/client/posts.ts'],
  ];

  it.each(scripts)('%s --help prints its usage, and changes nothing', async (script) => {
    const runScript = promisify(execFile);
    const { stdout } = await runScript(process.execPath, ['--no-warnings', script, '--help']);
    expect(stdout).toMatch(/^Usage: npm /);

    const failure = runScript(process.execPath, ['--no-warnings', script, '--frobnicate']);
    await expect(failure).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Unknown option '--frobnicate'"),
    });
  });
});
