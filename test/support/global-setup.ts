import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** Bytes that a file system in memory must have free before the tests use it. */
const ROOM = 4 * 1024 ** 3;

/**
 * One PostgreSQL server for the whole run; each test file has databases of its own in it. Databases are copies of one
 * of each kind that is migrated here, by the build that is tested.
 */
export default async function setUp(): Promise<void> {
  useMemory();
  const server = await startPostgres({ durable: false });
  process.env['TEST_DATABASE_URL'] = server.url;
  (globalThis as { postgresServer?: PostgresServer }).postgresServer = server;

  // A pooler keeps a connection to the template, which then cannot be copied.
  if (process.env['TEST_DATABASE_POOLER'] !== undefined) return;
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
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}

/** Each write of SQLite waits for the disk, which is all that some tests would do. */
function useMemory(): void {
  // That of a run around this one is not ours to remove.
  delete process.env['TEST_MEMORY'];
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize < ROOM) return;
    const folder = mkdtempSync('/dev/shm/posts-api-');
    // PostgreSQL may run as another user.
    chmodSync(folder, 0o711);
    process.env['TMPDIR'] = process.env['TEST_MEMORY'] = folder;
  } catch {
    // Not on every system.
  }
}
