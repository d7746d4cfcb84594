import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { environmentOfProcess } from './support/environment.js';
import { createStore, STORES, type TestStore } from './support/stores.js';

describe.each(STORES)('the file .env on %s', (store) => {
  let testStore: TestStore;
  let folder: string;
  beforeAll(async () => {
    testStore = await createStore(store);
  });
  afterAll(() => testStore.remove());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'env-file-'));
    await symlink(resolve('public'), join(folder, 'public'));
    const settings = {
      ...testStore.environment,
      PORT: '0',
      WRITE_ACCESS: 'staff',
      AUDIT_RETENTION_DAYS: 'x',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"`);
    await writeFile(join(folder, '.env'), `# A comment\n${lines.join('\n')}\n`);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Runs a script of the build in the folder, until it ends or is ready. */
  async function run([script, ...parameters]: [string, ...string[]], environment = {}): Promise<string> {
    const child = spawn(process.execPath, [resolve('dist', script), ...parameters], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: folder,
      env: { ...environmentOfProcess(), NODE_ENV: 'development', ...environment },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += String(chunk);
        if (output.includes('Reference at')) child.kill();
      });
    }
    await once(child, 'close');
    return output;
  }

  it('is read at the start, after the environment, and the log names its variables', async () => {
    const output = await run(['main.js'], { AUDIT_RETENTION_DAYS: '7', NODE_ENV: '' });

    expect(output).toMatch(/\.env was read: AUDIT_RETENTION_DAYS, .*PORT, WRITE_ACCESS/);
    expect(output).not.toContain('everyone may change data');
    expect(output).toContain(store === 'SQLite' ? testStore.environment['DATA_DIR'] : 'PostgreSQL at');
  });

  it('may begin with a byte order mark', async () => {
    await writeFile(join(folder, '.env'), '\uFEFFAUDIT_RETENTION_DAYS=x\n');

    expect(await run(['main.js'], testStore.environment)).toContain('AUDIT_RETENTION_DAYS must be');
  });

  it('is checked as the environment is', async () => {
    expect(await run(['main.js'])).toContain('AUDIT_RETENTION_DAYS must be');
  });

  it('is read by commands', async () => {
    expect(await run(['commands/migrate.js', '--yes'])).toContain(
      store === 'SQLite' ? testStore.environment['DATA_DIR'] : 'PostgreSQL at',
    );
  });

  it.each(['production', 'test'])('is not read when NODE_ENV is %s', async (environment) => {
    const output = await run(['commands/migrate.js', '--yes'], {
      NODE_ENV: environment,
      DATA_DIR: 'elsewhere',
    });

    // Without the file, there is the default database, if the service has one.
    expect(output).toContain(
      STORES.includes('SQLite') ? join(folder, 'elsewhere') : 'DATABASE_URL must be set',
    );
    expect(output).not.toContain(store === 'SQLite' ? testStore.environment['DATA_DIR'] : 'PostgreSQL at');
  });
});
