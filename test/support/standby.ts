import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-port.ts';
import { identityOfServer, SETTINGS } from './postgres-server.ts';
import { familyOf, signal } from './process-family.ts';
import { until } from './until.ts';

/**
 * The folder of an installed PostgreSQL that can create a standby; the binaries in `node_modules` lack `pg_basebackup`.
 */
export const standbyBinaries = globSync('/usr/lib/postgresql/*/bin').findLast(
  (folder) => globSync('{pg_basebackup,initdb,postgres}', { cwd: folder }).length === 3,
);

const run = promisify(execFile);

/** A streaming standby of a server of the same version. */
export class Standby {
  readonly url: string;
  private readonly bin: string;
  private readonly folder: string;
  private server: ChildProcess | undefined;

  private constructor(bin: string, folder: string, url: string) {
    this.bin = bin;
    this.folder = folder;
    this.url = url;
  }

  /**
   * Creates and starts a standby.
   *
   * @param primary address of the default database of its primary
   * @param port that of a stopped server, which the standby replaces
   */
  static async of(primary: string, bin: string, port?: string): Promise<Standby> {
    const folder = await mkdtemp(join(tmpdir(), 'posts-api-standby-'));
    const data = join(folder, 'data');
    const identity = identityOfServer();
    await mkdir(data, { mode: 0o700 });
    if (identity.uid !== undefined) {
      await chmod(folder, 0o755);
      await chown(data, identity.uid, identity.gid!);
    }
    const options = ['-R', '-C', '-S', 'standby', '-X', 'stream', '-c', 'fast', '--no-sync'];
    await run(join(bin, 'pg_basebackup'), ['-D', data, '-d', primary, ...options], {
      ...identity,
      cwd: data,
    });
    const url = new URL(primary);
    url.port = port ?? String(await freePort());
    const standby = new Standby(bin, folder, url.href);
    await standby.start();
    return standby;
  }

  async start(): Promise<void> {
    const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const data = join(this.folder, 'data');
    const { port } = new URL(this.url);
    this.server = spawn(join(this.bin, 'postgres'), ['-D', data, '-p', port, '-c', 'fsync=off', ...flags], {
      ...identityOfServer(),
      cwd: data,
      stdio: 'ignore',
    });
    await until('the standby accepts connections', () =>
      this.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
  }

  async query<Row>(sql: string): Promise<Row[]> {
    const client = new Client(this.url);
    try {
      await client.connect();
      return (await client.query(sql)).rows as Row[];
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Ends it immediately and without a checkpoint, like a crash. */
  async kill(): Promise<void> {
    await this.end('SIGQUIT');
  }

  /**
   * Suspends all of its processes: connections stay open, but nothing responds until the returned function resumes
   * them.
   */
  async freeze(): Promise<() => void> {
    const processes = await familyOf(this.server!.pid!);
    for (const each of processes) signal(each, 'SIGSTOP');
    return () => {
      for (const each of processes) signal(each, 'SIGCONT');
    };
  }

  async stop(): Promise<void> {
    await this.end('SIGINT');
    await rm(this.folder, { recursive: true, force: true });
  }

  private async end(how: NodeJS.Signals): Promise<void> {
    const { server } = this;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(how);
    await ended;
  }
}
