import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import type { GlobalConfig } from 'jest';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { hasBrowser } from '../support/browser.ts';
import { environmentOfProcess } from '../support/environment.ts';
import { STORES } from '../support/stores.ts';

const run = promisify(execFile);

/** Bytes that a file system in memory must have free before the tests use it. */
const MIN_FREE_MEMORY = 4 * 1024 ** 3;

type Cleanup = () => Promise<unknown>;

/** What the tests of this process need is removed in reverse order; in watch mode, after the last run. */
const cleanups: Cleanup[] = [];

/**
 * Builds the project, and starts one PostgreSQL server. Each test file has its own databases, which are copies of a
 * migrated template of each kind. In watch mode, later runs use the same server. For tests that need neither the build
 * nor the server, `TEST_WITHOUT` names both: their applications run the migrations themselves.
 */
export default async function setUp({ collectCoverage }: GlobalConfig): Promise<void> {
  if (collectCoverage)
    throw new Error(
      '--coverage is not supported: Jest does not load the modules (docs/decisions/0007-tests.md).',
    );
  if (cleanups.length > 0) return build();
  if (!hasBrowser)
    console.log(
      'Skipped here: tests in a browser. npm run test:system runs them, and so does TEST_BROWSER=on.',
    );
  const folder = createFolder();
  process.env['TMPDIR'] = folder;
  process.env['TEST_LATE_ERRORS'] = join(folder, 'late-errors');
  // Processes reuse the code that the first of them has compiled.
  process.env['NODE_COMPILE_CACHE'] = resolve('node_modules/.cache/compile');
  if (process.env['TEST_WITHOUT'] === 'build,PostgreSQL') return;
  try {
    const built = build();
    built.catch(() => undefined); // It is awaited below.
    const server = await startPostgres({ durable: false });
    cleanups.push(() => server.stop());
    process.env['TEST_DATABASE_URL'] = server.url;
    await built;
    await Promise.all([
      STORES.includes('SQLite') && createEmbeddedTemplate(folder),
      createServerTemplate(server),
    ]);
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** @throws Error with the errors that occurred after the last test of a file */
export async function tearDown({ watch, watchAll }: GlobalConfig): Promise<void> {
  const file = process.env['TEST_LATE_ERRORS']!;
  const errors = existsSync(file) ? readFileSync(file, 'utf8') : '';
  rmSync(file, { force: true });
  if (!watch && !watchAll) await cleanUp();
  if (errors !== '') throw new Error(errors);
}

async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.toReversed()) await cleanup().catch(console.error);
}

/** @throws Error with the output of the compiler when the build fails */
async function build(): Promise<void> {
  await run(process.execPath, ['--no-warnings', 'tools/build.ts']).catch(({ stdout, stderr }) => {
    throw new Error(`The build failed:\n${stdout}${stderr}`);
  });
}

async function createEmbeddedTemplate(parent: string): Promise<void> {
  const folder = mkdtempSync(join(parent, 'template-'));
  process.env['TEST_TEMPLATE'] = folder;
  await migrate({ DATA_DIR: folder });
}

async function createServerTemplate(server: PostgresServer): Promise<void> {
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

/**
 * Creates the folder of all temporary files: in memory if possible, because each write of SQLite waits for the disk. It
 * is removed when the process ends, which in watch mode it does without a teardown.
 */
function createFolder(): string {
  const folder = mkdtempSync(join(hasMemory() ? '/dev/shm' : tmpdir(), 'posts-api-'));
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o711);
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  return folder;
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= MIN_FREE_MEMORY;
  } catch {
    // Not every system has this folder.
    return false;
  }
}
