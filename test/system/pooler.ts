/**
 * Runs the core of the suite through PgBouncer in transaction mode. Part of `npm run test:system`; skipped where there
 * is no PgBouncer (PGBOUNCER_PATH names one).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { until } from '../support/until.ts';
import { Client } from 'pg';

/** Tests of transactions, locks, searches, sessions and concurrency. */
const CORE = [
  'posts.e2e',
  'posts-list',
  'races',
  'idempotency.e2e',
  'orders',
  'units-of-work',
  'users.e2e',
  'graphql.e2e',
  'tokens',
  'sessions',
  'migrations',
  'health',
  'slow-reads',
];

const NOBODY = 65534;
const program = process.env['PGBOUNCER_PATH'] ?? '/usr/sbin/pgbouncer';
if (!existsSync(program)) {
  console.log('LEFT OUT: a pooler, as there is no PgBouncer here (PGBOUNCER_PATH names one)');
  process.exit(0);
}

const postgres = await startPostgres();
const server = new URL(postgres.url);
const port = await freePort();
const folder = mkdtempSync(join(tmpdir(), 'posts-api-pooler-'));
writeFileSync(join(folder, 'users.txt'), '"postgres" "postgres"\n');
writeFileSync(
  join(folder, 'pgbouncer.ini'),
  `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
max_client_conn = 2000
default_pool_size = 10
server_idle_timeout = 5
`,
);
// PgBouncer does not run as root.
const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
if ('uid' in identity) {
  chmodSync(folder, 0o755);
  for (const file of ['users.txt', 'pgbouncer.ini']) chownSync(join(folder, file), NOBODY, NOBODY);
}
const pooler = spawn(program, ['--quiet', join(folder, 'pgbouncer.ini')], {
  ...identity,
  cwd: folder,
  stdio: ['ignore', 'ignore', 'inherit'],
});
let status: number | null = 1;
try {
  const url = new URL(server);
  url.port = String(port);
  await until('PgBouncer accepts connections', () => accepts(url.href));
  const tests = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '-t', 'PostgreSQL', ...CORE],
    {
      env: { ...process.env, TEST_DATABASE_URL: url.href, TEST_DATABASE_POOLER: 'transaction' },
      stdio: 'inherit',
    },
  );
  [status] = (await once(tests, 'exit')) as [number | null];
} finally {
  pooler.kill('SIGKILL');
  await postgres.stop();
  rmSync(folder, { recursive: true });
}
process.exit(status ?? 1);

async function accepts(url: string): Promise<boolean> {
  const client = new Client(url);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
