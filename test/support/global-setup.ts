import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { environmentOfProcess } from './environment.ts';

/** Bytes that a file system in memory must have free before the tests use it. */
const ROOM = 4 * 1024 ** 3;

/**
 * One PostgreSQL server for the whole run; each test file has databases of its own in it. Databases are copies of one
 * of each kind that is migrated here, by the build that is tested.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  const memory = useMemory();
  // Processes load the application from what the first of them has compiled.
  process.env['NODE_COMPILE_CACHE'] = resolve('node_modules/.cache/compile');
  const server = await startPostgres({ durable: false });
  process.env['TEST_DATABASE_URL'] = server.url;
  // A pooler keeps a connection to the template, which then cannot be copied.
  const hasTemplate = process.env['TEST_DATABASE_POOLER'] === undefined;
  let removeTemplate: (() => Promise<void>) | undefined;
  const tearDown = async () => {
    await removeTemplate?.();
    await server.stop();
    if (memory !== undefined) await rm(memory, { recursive: true, force: true });
  };
  try {
    if (hasTemplate) removeTemplate = await createTemplate(server);
  } catch (error) {
    await tearDown();
    throw error;
  }
  return tearDown;
}

async function createTemplate(server: PostgresServer): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'posts-api-template-'));
  process.env['TEST_TEMPLATE'] = folder;
  const template = new URL(server.url);
  // Another run may use the same server: a test runs the tests of a copy of this project.
  const database = `template_${randomUUID().replaceAll('-', '')}`;
  template.pathname = database;
  await server.run(`CREATE DATABASE ${database}`);
  process.env['TEST_TEMPLATE_DATABASE'] = database;
  for (const environment of [{ DATA_DIR: folder }, { DATA_DIR: folder, DATABASE_URL: template.href }]) {
    execFileSync(process.execPath, ['dist/commands/migrate.js'], {
      env: { ...environmentOfProcess(), ...environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return async () => {
    await rm(folder, { recursive: true });
    // The server may be one that goes on.
    await server.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  };
}

/** Each write of SQLite waits for the disk, which is all that some tests would do. */
function useMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize < ROOM) return undefined;
    const folder = mkdtempSync('/dev/shm/posts-api-');
    // PostgreSQL may run as another user.
    chmodSync(folder, 0o711);
    process.env['TMPDIR'] = folder;
    return folder;
  } catch {
    // Not on every system.
    return undefined;
  }
}
