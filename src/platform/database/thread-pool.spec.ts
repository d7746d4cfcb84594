import { afterAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ThreadPool } from './thread-pool.js';

const folder = mkdtempSync(join(tmpdir(), 'threads-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A module of threads with this default export. */
function moduleOf(code: string): string {
  const file = join(folder, `${Date.now()}-${Math.random()}.mjs`);
  writeFileSync(file, `export default ${code}`);
  return file;
}

const noThread = expect.objectContaining({ code: 'NO_THREAD' });

it('runs tasks on as many threads as it may', async () => {
  const barrier = new Int32Array(new SharedArrayBuffer(4));
  const filename = moduleOf(`(barrier) => {
    Atomics.add(barrier, 0, 1);
    Atomics.notify(barrier, 0);
    while (Atomics.load(barrier, 0) < 2) Atomics.wait(barrier, 0, Atomics.load(barrier, 0), 100);
    return 'met';
  }`);
  const pool = new ThreadPool<Int32Array, string>({ filename, maxThreads: 2 });

  expect(await Promise.all([pool.run(barrier), pool.run(barrier)])).toEqual(['met', 'met']);
  await pool.close();
});

it('does not load into threads what a process has loaded before its program', async () => {
  const preloaded = moduleOf(`console.log('loaded')`);
  const program = join(folder, 'program.mjs');
  const threadPool = new URL('../../../dist/platform/database/thread-pool.js', import.meta.url).href;
  writeFileSync(
    program,
    `import { ThreadPool } from '${threadPool}';
    const pool = new ThreadPool({ filename: '${moduleOf(`() => 'done'`)}', maxThreads: 1 });
    console.log(await pool.run(1));
    await pool.close();`,
  );

  const { stdout } = await promisify(execFile)(process.execPath, ['--import', preloaded, program]);
  expect(stdout).toBe('loaded\ndone\n');
});

it('rejects also the tasks that wait for a thread that ends early, and starts another one', async () => {
  const filename = moduleOf(`(code) => (code === 0 ? 'done' : process.exit(code))`);
  const pool = new ThreadPool<number, string>({ filename, maxThreads: 1 });

  const results = await Promise.allSettled([pool.run(1), pool.run(0), pool.run(0)]);
  expect(results).toEqual(results.map(() => ({ status: 'rejected', reason: noThread })));
  expect(await pool.run(0)).toBe('done');
  await pool.close();
});

it('rejects a task whose thread cannot be created, whatever the others do', async () => {
  // Functions cannot be copied to a thread: `new Worker` throws, as it does without file descriptors.
  const workerData = { callback: () => {} };
  const pool = new ThreadPool<number, string>({
    filename: moduleOf(`() => 'done'`),
    maxThreads: 3,
    workerData,
  });

  for (let n = 0; n < 2; n++) {
    const results = await Promise.allSettled([pool.run(1), pool.run(2), pool.run(3), pool.run(4)]);
    expect(results).toEqual(results.map(() => ({ status: 'rejected', reason: noThread })));
  }
  await pool.close();
});
