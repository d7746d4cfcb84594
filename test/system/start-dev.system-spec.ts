import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CopyOfProject } from '../support/copy-of-project.js';
import { environmentOfProcess } from '../support/environment.js';
import { freePort } from '../support/free-port.js';
import { ANY_STORE, createStore, type TestStore } from '../support/stores.js';
import { until } from '../support/until.js';

/** In a copy of the project, whose sources it changes. */
describe('npm run start:dev', () => {
  let copy: CopyOfProject;
  let store: TestStore;
  let port: number;
  let tool: ChildProcess;
  let output = '';
  beforeAll(async () => {
    copy = new CopyOfProject();
    store = await createStore(ANY_STORE);
    port = await freePort();
    const settings = { ...store.environment, PORT: String(port), NODE_ENV: 'test' };
    tool = spawn(process.execPath, ['--no-warnings', 'tools/start-dev.ts'], {
      cwd: copy.folder,
      env: { ...environmentOfProcess(), ...settings },
    });
    for (const stream of [tool.stdout!, tool.stderr!]) stream.on('data', (chunk) => (output += chunk));
    await starts(1);
  });
  afterAll(async () => {
    if (tool.exitCode === null) tool.kill('SIGTERM');
    copy.remove();
    await store.remove();
  });

  const count = (text: string) => output.split(text).length - 1;
  // A build beside those of other tests takes long.
  const starts = (times: number) =>
    until(`the service has started ${times} times`, () => count('Ready on') === times, 60_000);
  const status = async () => (await fetch(`http://127.0.0.1:${port}/hello`)).status;
  const edit = (change: (text: string) => string) => {
    const file = join(copy.folder, 'src/health/health.controller.ts');
    // Many editors replace a file instead of writing to it.
    const replacement = join(copy.folder, 'replacement.ts');
    writeFileSync(replacement, change(readFileSync(file, 'utf8')));
    renameSync(replacement, file);
  };

  it('serves what has changed, on the same port', async () => {
    expect(await status()).toBe(404);

    edit((text) => text.replace("path: 'health'", "path: ['health', 'hello']"));
    await starts(2);

    expect(await status()).toBe(200);
    expect(output).not.toContain('EADDRINUSE');
  });

  it('prints the errors of a build that fails, and serves the last one', async () => {
    edit((text) => `${text}\nconst wrong: number = 'text';\n`);
    await until('the error is printed', () => output.includes('health.controller.ts'));

    expect(await status()).toBe(200);
    edit((text) => text.replace(/\nconst wrong.*\n/, ''));
    await starts(3);
  });

  it('ends with the service on Ctrl-C', async () => {
    const exit = once(tool, 'exit');
    tool.kill('SIGINT');

    expect(await exit).toEqual([0, null]);
    expect(count('Stopped')).toBe(count('Ready on'));
    await expect(status()).rejects.toThrow('fetch failed');
  });
});
