import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { hasBrowser } from './browser.ts';
import { environmentOfProcess } from './environment.ts';

const run = promisify(execFile);

/** Bytes that a file system in memory must have free before the tests use it. */
const MIN_FREE_MEMORY = 4 * 1024 ** 3;

type Cleanup = () => Promise<unknown>;

/**
 * Builds the project, and starts one PostgreSQL server for the whole run. Each test file has its own databases, which
 * are copies of a migrated template of each kind.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const cleanups: Cleanup[] = [];
  const tearDown = async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup().catch(console.error);
  };
  if (!hasBrowser)
    console.log(
      'Skipped here: tests in a browser. npm run test:system runs them, and so does TEST_BROWSER=on.',
    );
  useMemory(cleanups);
  // Processes reuse the code that the first of them has compiled.
  process.env['NODE_COMPILE_CACHE'] = resolve('node_modules/.cache/compile');
  try {
    const built = build();
    built.catch(() => undefined); // It is awaited below.
    const server = await startPostgres({ durable: false });
    cleanups.push(() => server.stop());
    process.env['TEST_DATABASE_URL'] = server.url;
    await built;
    // A pooler keeps a connection to the template, which then cannot be copied.
    if (process.env['TEST_DATABASE_POOLER'] === undefined)
      await Promise.all([createEmbeddedTemplate(cleanups), createServerTemplate(server, cleanups)]);
  } catch (error) {
    await tearDown();
    throw error;
  }
  // In watch mode, for the tests of commands and processes.
  project.onTestsRerun(build);
  return tearDown;
}

/** @throws Error with the output of the compiler when the build fails */
async function build(): Promise<void> {
  await run(process.execPath, ['--no-warnings', 'tools/build.ts']).catch(({ stdout, stderr }) => {
    throw new Error(`The build failed:\n${stdout}${stderr}`);
  });
}

async function createEmbeddedTemplate(cleanups: Cleanup[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'posts-api-template-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  process.env['TEST_TEMPLATE'] = folder;
  await migrate({ DATA_DIR: folder });
}

async function createServerTemplate(server: PostgresServer, cleanups: Cleanup[]): Promise<void> {
  // Another run may use the same server: a test runs the tests of a copy of this project.
  const database = `template_${randomUUID().replaceAll('-', '')}`;
  const template = new URL(server.url);
  template.pathname = database;
  await server.run(`CREATE DATABASE ${database}`);
  // The server may continue to run after the tests.
  cleanups.push(() => server.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
  process.env['TEST_TEMPLATE_DATABASE'] = database;
  await migrate({ DATA_DIR: tmpdir(), DATABASE_URL: template.href });
}

const migrate = (environment: Record<string, string>) =>
  run(process.execPath, ['dist/commands/migrate.js', '--yes'], {
    env: { ...environmentOfProcess(), ...environment },
  });

/** Puts temporary files into memory, because each write of SQLite waits for the disk. */
function useMemory(cleanups: Cleanup[]): void {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize < MIN_FREE_MEMORY) return;
    const folder = mkdtempSync('/dev/shm/posts-api-');
    // PostgreSQL may run as another user.
    chmodSync(folder, 0o711);
    process.env['TMPDIR'] = folder;
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
  } catch {
    // Not every system has this folder.
  }
}
