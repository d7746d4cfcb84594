import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { PARTS } from '../../tools/cluster/parts.ts';
import { poolerSettings } from '../../tools/cluster/pooler-settings.ts';
import { freePort } from './free-port.ts';
import { identityOfServer } from './postgres-server.ts';
import { until } from './until.ts';

export const hasPgBouncer = existsSync(PARTS.pgbouncer);

/**
 * Starts PgBouncer with the file of `deploy/cluster`, in transaction mode.
 *
 * @param url address of a database
 * @returns the address of that database through PgBouncer
 */
export async function startPgBouncer(url: string): Promise<{ url: string; stop: () => void }> {
  const server = new URL(url);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'posts-api-pooler-'));
  const authFile = join(folder, 'userlist.txt');
  writeFileSync(authFile, '"postgres" "postgres"\n');
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    poolerSettings({ database: '*', server: { host: server.hostname, port: server.port }, port, authFile }),
  );
  // PgBouncer refuses to run as root.
  const identity = identityOfServer();
  if (identity.uid !== undefined) {
    chmodSync(folder, 0o755);
    for (const file of ['userlist.txt', 'pgbouncer.ini'])
      chownSync(join(folder, file), identity.uid, identity.gid!);
  }
  const pooler = spawn(PARTS.pgbouncer, ['--quiet', join(folder, 'pgbouncer.ini')], {
    ...identity,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = () => {
    pooler.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  };
  const through = Object.assign(new URL(url), { port }).href;
  await until('PgBouncer accepts connections', () => accepts(through)).catch((error: unknown) => {
    stop();
    throw error;
  });
  return { url: through, stop };
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
