import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { environmentOfProcess } from './environment.ts';

const run = promisify(execFile);

/** Bytes that a file system in memory must have free before the tests use it. */
const MIN_FREE_MEMORY = 4 * 1024 ** 3;

/**
 * Builds the project, and starts one PostgreSQL server for the whole run. Each test file has its own databases, which
 * are copies of a migrated template of each kind.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  const memory = useMemory();
  // Processes reuse the code that the first of them has compiled.
  process.env['NODE_COMPILE_CACHE'] = resolve('node_modules/.cache/compile');
  // A pooler keeps a connection to the template, which then cannot be copied.
  const hasTemplate = process.env['TEST_DATABASE_POOLER'] === undefined;
  // Runs at the same time as the start of the server.
  const built = build();
  const embedded = built.then(() => (hasTemplate ? createEmbeddedTemplate() : undefined));
  embedded.catch(() => undefined); // It is awaited below.
  const server = await startPostgres({ durable: false });
  process.env['TEST_DATABASE_URL'] = server.url;
  // Another run may use the same server: a test runs the tests of a copy of this project.
  const database = `template_${randomUUID().replaceAll('-', '')}`;
  const tearDown = async () => {
    const folder = await embedded.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true });
    // The server may continue to run after the tests.
    if (hasTemplate) await server.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    await server.stop();
    if (memory !== undefined) await rm(memory, { recursive: true, force: true });
  };
  try {
    await built;
    if (hasTemplate) await Promise.all([embedded, createServerTemplate(server, database)]);
  } catch (error) {
    await tearDown();
    throw error;
  }
  return tearDown;
}

/** @throws Error with the output of the compiler when the build fails */
async function build(): Promise<void> {
  await run(process.execPath, ['--no-warnings', 'tools/build.ts']).catch(({ stdout, stderr }) => {
    throw new Error(`The build failed:\n${stdout}${stderr}`);
  });
}

/** @returns the folder with the migrated database */
async function createEmbeddedTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'posts-api-template-'));
  process.env['TEST_TEMPLATE'] = folder;
  await migrate({ DATA_DIR: folder });
  return folder;
}

async function createServerTemplate(server: PostgresServer, database: string): Promise<void> {
  const template = new URL(server.url);
  template.pathname = database;
  await server.run(`CREATE DATABASE ${database}`);
  process.env['TEST_TEMPLATE_DATABASE'] = database;
  await migrate({ DATA_DIR: tmpdir(), DATABASE_URL: template.href });
}

const migrate = (environment: Record<string, string>) =>
  run(process.execPath, ['dist/commands/migrate.js'], {
    env: { ...environmentOfProcess(), ...environment },
  });

/** Puts temporary files into memory, because each write of SQLite waits for the disk. */
function useMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize < MIN_FREE_MEMORY) return undefined;
    const folder = mkdtempSync('/dev/shm/posts-api-');
    // PostgreSQL may run as another user.
    chmodSync(folder, 0o711);
    process.env['TMPDIR'] = folder;
    return folder;
  } catch {
    // Not every system has this folder.
    return undefined;
  }
}
