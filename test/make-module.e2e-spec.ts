import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service } from './support/service.js';
import { createStore } from './support/stores.js';

const run = promisify(execFile);

const LEFT_OUT = new Set(['node_modules', 'dist', 'data', '.git', 'coverage']);

/** In a copy of the project, which has a module more afterwards. */
describe('npm run make:module', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'posts-api-copy-'));
    cpSync('.', copy, { recursive: true, filter: (file) => !LEFT_OUT.has(basename(file)) });
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  /** @returns the exit code, and everything that was printed */
  async function inCopy(command: string, ...parameters: string[]): Promise<{ code: number; output: string }> {
    return run(command, parameters, { cwd: copy, maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
    );
  }

  const makeModule = (...parameters: string[]) =>
    inCopy('npm', 'run', '--silent', 'make:module', '--', ...parameters);

  it.each([
    ['nothing', [], 'Usage'],
    ['a module that there is', ['posts'], 'taken: there is src/posts'],
    ['a type that there is', ['people', '--singular', 'user'], 'the schema has a type User'],
    ['a table that there is', ['idempotency-records'], 'there is a table idempotency_records'],
    ['capital letters', ['Comments'], 'cannot be a name'],
    ['a path', ['../comments'], 'cannot be a name'],
    ['a singular', ['comment'], 'does not look like a plural'],
    ['a word of the language', ['enums'], 'means something else'],
    ['an unknown flag', ['comments', '--force'], 'Unknown option'],
  ])('refuses %s, and makes nothing', async (_, parameters, message) => {
    const before = readdirSync(join(copy, 'src'));

    const { code, output } = await makeModule(...parameters);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toContain('    at ');
    expect(readdirSync(join(copy, 'src'))).toEqual(before);
  });

  it('makes a module that passes the gate, and is served at once', async () => {
    expect(await makeModule('blog-entries')).toMatchObject({ code: 0 });

    for (const check of ['format', 'lint', 'types', 'boundaries', 'dead-code', 'openapi']) {
      const { code, output } = await inCopy('npm', 'run', '--silent', `check:${check}`);
      expect([check, code, code === 0 ? '' : output]).toEqual([check, 0, '']);
    }
    const jest = [
      '--experimental-vm-modules',
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--forceExit',
    ];
    const tests = await inCopy(
      process.execPath,
      ...jest,
      'blog-entries',
      'database',
      'reference',
      'graphql.e2e',
    );
    expect([tests.code, tests.code === 0 ? '' : tests.output]).toEqual([0, '']);
    expect(tests.output).toContain('PASS test/blog-entries.e2e-spec.ts');

    const store = await createStore('SQLite');
    const service = await Service.start(store.environment, join(copy, 'dist/main.js'));
    const reply = await service.fetch('/v1/blog-entries');
    await service.end('SIGKILL');
    await store.remove();
    expect(await reply.json()).toEqual({ data: [], meta: { total: 0, page: 1, limit: 20, has_next: false } });
  }, 400_000);
});
