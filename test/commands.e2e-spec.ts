import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from './support/command.js';
import { environmentOfProcess } from './support/environment.js';
import { describeCommands } from './support/command-cases.js';
import { ANY_STORE, createStore, ifEmbedded, STORES, type TestStore } from './support/stores.js';

const SUPERUSER = ['create-superuser', '--email', 'ada@example.com', '--name', 'Ada'];

describeCommands('the usage and the database of commands', {
  printUsage: ['account', 'audit', 'backup', 'events', 'migrate', 'move'],
  rejectOldSchema: [
    ['audit', []],
    ['account', ['list']],
    ['account', ['purge']],
    ['events', ['renew-epoch']],
  ],
  nameDatabase: [
    ['migrate', []],
    ['events', ['renew-epoch']],
    ['account', ['purge']],
  ],
  askToCreate: [
    ['migrate', []],
    ['account', SUPERUSER],
    ['events', ['renew-epoch']],
  ],
  createDatabase: [
    ['migrate', [], 'y\n', 'Migrations run: '],
    ['migrate', ['--yes'], '', 'Migrations run: '],
    ['account', SUPERUSER, 'y\nA long passphrase\n', 'is a superuser'],
  ],
  reportMistakes: [
    ['account', ['frobnicate'], 'There is no command frobnicate'],
    ['events', ['frobnicate'], 'There is no command frobnicate'],
  ],
});

ifEmbedded(describe)('without a database, a command that only reads', () => {
  let store: TestStore;
  let file: string;
  beforeEach(async () => {
    store = await createStore(ANY_STORE, { empty: true });
    file = join(store.environment['DATA_DIR']!, 'database.sqlite');
  });
  afterEach(() => store.remove());

  const NO_DATABASE =
    /^There is no database yet \(SQLite in .+\): start the service, or run npm run migrate\n$/;

  it.each([
    ['audit', []],
    ['account', ['list']],
    ['account', ['show', 'ada@example.com']],
    ['events', ['tail']],
  ])('%s %j creates none', async (name, parameters) => {
    const { code, output } = await runCommand(name, parameters, store);

    expect([code, output]).toEqual([1, expect.stringMatching(NO_DATABASE)]);
    expect(existsSync(file)).toBe(false);
  });

  it('says so for an empty file, too', async () => {
    writeFileSync(file, '');

    const { code, output } = await runCommand('audit', [], store);

    expect([code, output]).toEqual([1, expect.stringMatching(NO_DATABASE)]);
  });
});

describe('a command whose reader has gone', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await createStore(ANY_STORE);
  });
  afterEach(() => store.remove());

  it.each(['account --help', 'account list', 'account show ada@example.com', 'audit'])(
    '%s ends quietly',
    async (words) => {
      const { environment } = store;
      await runCommand('account', SUPERUSER, { environment, input: 'A long passphrase\n' });
      const [name, ...parameters] = words.split(' ');

      // Without a reader when it prints.
      const script = `set -o pipefail; node dist/commands/${name}.js ${parameters.join(' ')} | true`;
      const { stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], {
        env: { ...environmentOfProcess(), ...environment },
      });
      expect(stderr).not.toMatch(/\n\s+at |EPIPE/);
    },
  );
});

describe.each(STORES)('a command that writes on %s', (name) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await createStore(name);
  });
  afterEach(() => store.remove());

  it('finishes its work after its reader has gone, and exits with its own code', async () => {
    const { environment } = store;
    const input = 'A long passphrase\n';
    await runCommand('account', SUPERUSER, { environment, input });
    await runCommand('account', ['create', '--email', 'bob@example.com', '--name', 'Bob'], {
      environment,
      input,
    });
    const deactivate = async (email: string) => {
      const command = `node dist/commands/account.js deactivate ${email}`;
      // The reader is gone before the first line.
      const script = `(sleep 0.2; ${command}; echo $? >&3) 3>&2 2>&1 | true`;
      const { stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], {
        env: { ...environmentOfProcess(), ...environment },
      });
      return stderr;
    };

    expect(await deactivate('bob@example.com')).toBe('0\n');
    const { output } = await runCommand('account', ['show', 'bob@example.com'], { environment });
    expect(output).toContain('isActive: false');
    // The last superuser.
    expect(await deactivate('ada@example.com')).toBe('1\n');
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

  it.each(scripts)('%s prints its usage with --help, and rejects an unknown option', async (script) => {
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
