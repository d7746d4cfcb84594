import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port.ts';
import { identityOfServer } from './postgres-server.ts';
import { until } from './until.ts';

const program = process.env['PGBOUNCER_PATH'] ?? '/usr/sbin/pgbouncer';

export const hasPgBouncer = existsSync(program);

/**
 * Starts PgBouncer in transaction mode.
 *
 * @param url address of a database
 * @returns the address of that database through PgBouncer
 */
export async function startPgBouncer(url: string): Promise<{ url: string; stop: () => void }> {
  const server = new URL(url);
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
  // PgBouncer refuses to run as root.
  const identity = identityOfServer();
  if (identity.uid !== undefined) {
    chmodSync(folder, 0o755);
    for (const file of ['users.txt', 'pgbouncer.ini'])
      chownSync(join(folder, file), identity.uid, identity.gid!);
  }
  const pooler = spawn(program, ['--quiet', join(folder, 'pgbouncer.ini')], {
    ...identity,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const through = Object.assign(new URL(url), { port }).href;
  await until('PgBouncer accepts connections', () => accepts(through));
  return {
    url: through,
    stop: () => {
      pooler.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    },
  };
}

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
