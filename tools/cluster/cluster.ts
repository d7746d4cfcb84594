import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../../test/support/free-port.ts';
import { identityOfServer } from '../../test/support/postgres-server.ts';
import { until } from '../../test/support/until.ts';
import { DatabaseNode } from './database-node.ts';
import { isSafePatroni, PARTS, patroniVersion, POSTGRES_BIN, SAFE_PATRONI } from './parts.ts';
import { poolerSettings } from './pooler-settings.ts';
import { Program } from './program.ts';

const HERE = '127.0.0.1';
const FILES = ['patroni.yml', 'haproxy.cfg'];

/** How long a part may take until it is ready, in milliseconds: the machine may be busy. */
const TIMEOUT = 120_000;

/** How a replica of the service runs. */
export interface Build {
  /** The parameters of Node.js. */
  readonly parameters: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

/**
 * Two nodes of PostgreSQL under Patroni with etcd, HAProxy, PgBouncer, and three replicas of the service, with the files
 * of `deploy/cluster`, on free ports of this machine and in one folder, which is removed at the end. Started as root, they
 * run as `nobody`.
 */
export class Cluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'posts-api-cluster-'));
  readonly nodes: DatabaseNode[] = [];
  readonly replicas: Program[] = [];
  etcd!: Program;
  private pooler!: Program;
  private proxy!: Program;
  private readonly report: (line: string) => void;
  /** Whether Patroni uses etcd's v2 interface, which compares the owner of the leader key. */
  private readonly usesV2: boolean;
  private readonly ports: Record<'api' | 'writer' | 'pooler' | 'etcd' | 'peers', number>;
  private readonly replicaPorts: readonly number[];
  private readonly identity = identityOfServer();
  private readonly passwords = {
    superuser: newSecret(),
    replication: newSecret(),
    rest: newSecret(),
    posts: newSecret(),
  };
  private readonly secret = newSecret();
  private readonly programs: Program[] = [];

  private constructor(ports: readonly number[], report: (line: string) => void) {
    this.report = report;
    const version = patroniVersion();
    this.usesV2 = !isSafePatroni(version);
    if (this.usesV2)
      report(
        `Patroni ${version} may lose acknowledged writes over etcd's v3 interface, so it uses v2 here: run ${SAFE_PATRONI} or later`,
      );
    const [api, writer, pooler, etcd, peers, ...replicas] = ports as [number, number, number, number, number];
    this.ports = { api, writer, pooler, etcd, peers };
    this.replicaPorts = replicas;
  }

  /** @param report gets a line for each part that is ready */
  static async prepare(report: (line: string) => void): Promise<Cluster> {
    const ports = [];
    while (ports.length < 8) ports.push(await freePort());
    return new Cluster(ports, report);
  }

  /** Resolves when the proxy sends requests to the service. Call `stop` in any case. */
  async start(build: Build): Promise<void> {
    await this.startDatabase();
    await this.createDatabase();
    await this.startProxies();
    for (const n of this.replicaPorts.keys()) await this.startReplica(n, build);
    await until('the proxy finds a replica', () => responds(`${this.api}/health/ready`), TIMEOUT);
  }

  /** The address of the service behind the proxy. */
  get api(): string {
    return `http://${HERE}:${this.ports.api}`;
  }

  /** The database through PgBouncer and HAProxy. */
  get databaseUrl(): string {
    return `postgres://posts:${this.passwords.posts}@${HERE}:${this.ports.pooler}/posts`;
  }

  /** The database at the primary itself, whichever it is: for migrations. */
  get serverUrl(): string {
    return `postgres://posts:${this.passwords.posts}@${HERE}:${this.ports.writer}/posts`;
  }

  /** The address of the primary, whichever it is, for its superuser. */
  get writerUrl(): string {
    return `postgres://postgres:${this.passwords.superuser}@${HERE}:${this.ports.writer}/postgres`;
  }

  /** The settings of a replica and of commands. */
  get settings(): Readonly<Record<string, string>> {
    return {
      DATABASE_URL: this.databaseUrl,
      DATABASE_POOLER: 'transaction',
      JWT_SECRET: this.secret,
      TRUST_PROXY: HERE,
      DRAIN_DELAY_MS: '1000',
      DATA_DIR: join(this.folder, 'data'),
    };
  }

  addressOf(replica: number): string {
    return `http://${HERE}:${this.replicaPorts[replica]}`;
  }

  async primary(): Promise<DatabaseNode | undefined> {
    const arePrimary = await Promise.all(this.nodes.map((node) => node.isPrimary()));
    return this.nodes[arePrimary.indexOf(true)];
  }

  /** Waits until there is a standby, so that a failover loses nothing. */
  async untilSynchronous(): Promise<void> {
    const find = async () =>
      (await Promise.all(this.nodes.map((node) => node.isSynchronous()))).includes(true);
    await until('there is a synchronous standby', find, TIMEOUT);
  }

  /** Asks Patroni to let the standby take the place of the primary. */
  async switchOver(): Promise<void> {
    const primary = (await this.primary())!;
    const standby = this.nodes.find((node) => node !== primary)!;
    const nodes = ['--leader', primary.name, '--candidate', standby.name];
    const options = { env: this.environment(this.patroniSettings) };
    await promisify(execFile)(
      '/usr/bin/patronictl',
      ['-c', join(this.folder, 'patroni.yml'), 'switchover', '--force', ...nodes],
      options,
    );
  }

  /** Starts a replica, or starts it again as another build. Resolves when it is ready. */
  async startReplica(n: number, { parameters, environment, cwd = process.cwd() }: Build): Promise<void> {
    await this.replicas[n]?.end();
    const port = String(this.replicaPorts[n]);
    const name = `replica${n + 1}`;
    const identity = canRead(cwd, this.identity) ? this.identity : {};
    if (identity !== this.identity) this.report(`${name} runs as root, because nobody else can read ${cwd}`);
    const replica = this.add(name, [process.execPath, ...parameters], {
      identity,
      cwd,
      env: { ...environment, ...this.settings, PORT: port },
    });
    this.replicas[n] = replica;
    await this.run(replica, () => responds(`${this.addressOf(n)}/health/ready`));
  }

  async restartPooler(): Promise<void> {
    await this.pooler.end();
    await this.run(this.pooler, () => acceptsWrites(this.databaseUrl));
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end()));
    await Promise.allSettled(this.nodes.map((node) => node.abandon()));
    for (const program of this.programs) program.kill();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  private async startDatabase(): Promise<void> {
    for (const file of FILES) copyFileSync(join('deploy/cluster', file), join(this.folder, file));
    mkdirSync(join(this.folder, 'data'));
    for (const path of ['', 'data']) this.own(path);
    const { etcd, peers } = this.ports;
    const clients = `http://${HERE}:${etcd}`;
    const peer = `http://${HERE}:${peers}`;
    const settings = {
      name: 'etcd',
      'data-dir': join(this.folder, 'etcd'),
      'listen-client-urls': clients,
      'advertise-client-urls': clients,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `etcd=${peer}`,
    };
    const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    if (this.usesV2) flags.push('--enable-v2');
    this.etcd = this.add('etcd', [PARTS['etcd-server'], ...flags]);
    await this.run(this.etcd, () => responds(`${clients}/health`));
    for (const name of ['node1', 'node2']) await this.addNode(name);
    for (const node of this.nodes) node.start();
    await until('Patroni has a primary', async () => (await this.primary()) !== undefined, TIMEOUT);
    await this.untilSynchronous();
    for (const { name, rest } of this.nodes)
      this.report(`${name} of Patroni: http://${HERE}:${rest}/patroni`);
  }

  private async addNode(name: string): Promise<void> {
    const [port, rest] = [await freePort(), await freePort()];
    const data = join(this.folder, name);
    const patroni = this.add(`patroni-${name}`, [PARTS.patroni, join(this.folder, 'patroni.yml')], {
      env: this.environment({
        ...this.patroniSettings,
        PATRONI_NAME: name,
        PATRONI_RESTAPI_LISTEN: `${HERE}:${rest}`,
        PATRONI_RESTAPI_CONNECT_ADDRESS: `${HERE}:${rest}`,
        PATRONI_POSTGRESQL_LISTEN: `${HERE}:${port}`,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${HERE}:${port}`,
        PATRONI_POSTGRESQL_DATA_DIR: data,
        PATRONI_POSTGRESQL_PGPASS: join(this.folder, `${name}.pgpass`),
      }),
    });
    this.nodes.push(new DatabaseNode(patroni, { name, port, rest }, data));
  }

  private get patroniSettings(): Record<string, string> {
    return {
      [this.usesV2 ? 'PATRONI_ETCD_HOSTS' : 'PATRONI_ETCD3_HOSTS']: `${HERE}:${this.ports.etcd}`,
      PATRONI_POSTGRESQL_BIN_DIR: POSTGRES_BIN,
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: this.passwords.superuser,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: this.passwords.replication,
      PATRONI_RESTAPI_USERNAME: 'patroni',
      PATRONI_RESTAPI_PASSWORD: this.passwords.rest,
    };
  }

  private async startProxies(): Promise<void> {
    const replicas = this.replicaPorts.map((port, n) => [`REPLICA_${n + 1}`, `${HERE}:${port}`]);
    const nodes = this.nodes.flatMap(({ port, rest }, n) => [
      [`NODE_${n + 1}`, `${HERE}:${port}`],
      [`NODE_${n + 1}_REST`, String(rest)],
    ]);
    this.proxy = this.add('haproxy', [PARTS.haproxy, '-db', '-f', join(this.folder, 'haproxy.cfg')], {
      env: this.environment({
        PROXY_BIND: `${HERE}:${this.ports.api}`,
        WRITER_BIND: `${HERE}:${this.ports.writer}`,
        ...Object.fromEntries([...replicas, ...nodes]),
      }),
    });
    await this.run(this.proxy, () => acceptsWrites(this.writerUrl));

    const authFile = join(this.folder, 'userlist.txt');
    const settings = join(this.folder, 'pgbouncer.ini');
    writeFileSync(authFile, `"posts" "${this.passwords.posts}"\n`);
    const database = { database: 'posts', server: { host: HERE, port: this.ports.writer } };
    writeFileSync(settings, poolerSettings({ ...database, port: this.ports.pooler, authFile }));
    this.own('userlist.txt');
    this.pooler = this.add('pgbouncer', [PARTS.pgbouncer, settings]);
    await this.run(this.pooler, () => acceptsWrites(this.databaseUrl));
  }

  /** At the primary itself: when HAProxy starts, it takes each node for the primary until it has checked it. */
  private async createDatabase(): Promise<void> {
    const { port } = (await this.primary())!;
    const client = new Client(Object.assign(new URL(this.writerUrl), { port }).href);
    await client.connect();
    try {
      await client.query(`CREATE ROLE posts LOGIN PASSWORD '${this.passwords.posts}'`);
      await client.query(`ALTER ROLE posts SET statement_timeout = '8s'`);
      await client.query('CREATE DATABASE posts OWNER posts');
    } finally {
      await client.end();
    }
  }

  private add(
    name: string,
    command: readonly string[],
    {
      cwd = this.folder,
      env = this.environment(),
      identity = this.identity,
    }: { cwd?: string; env?: Record<string, string | undefined>; identity?: Identity } = {},
  ): Program {
    const program = new Program(name, command, this.folder, { cwd, env, ...identity });
    this.programs.push(program);
    return program;
  }

  /** Starts a program, and waits until it is ready. @throws Error when it ends before that */
  private async run(program: Program, isReady: () => Promise<boolean>): Promise<void> {
    program.start();
    await until(
      `${program.name} is ready`,
      async () => {
        if (!program.isRunning) throw new Error(`${program.name} has ended:\n${program.lastLines()}`);
        return isReady();
      },
      TIMEOUT,
    );
    this.report(`${program.name} is ready`);
  }

  private environment(own: Record<string, string> = {}): Record<string, string | undefined> {
    return { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: this.folder, ...own };
  }

  /** Gives a file of the folder to the user whom the programs run as. */
  private own(file: string): void {
    const { uid, gid } = this.identity;
    if (uid !== undefined) chownSync(join(this.folder, file), uid, gid!);
  }
}

type Identity = ReturnType<typeof identityOfServer>;

/** Whether a user can read the service in a folder, with its packages. */
const canRead = (folder: string, identity: Identity): boolean =>
  ['dist/main.js', 'node_modules/pg/package.json', '.env']
    .map((file) => join(folder, file))
    .every((file) => !existsSync(file) || spawnSync('test', ['-r', file], identity).status === 0);

const newSecret = (): string => randomBytes(24).toString('hex');

const responds = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(5000) }).then(
    async (response) => {
      await response.body?.cancel();
      return response.ok;
    },
    () => false,
  );

async function acceptsWrites(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('SELECT pg_is_in_recovery() AS "isStandby"');
    return !rows[0].isStandby;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
