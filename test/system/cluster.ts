/**
 * Three replicas behind HAProxy and PgBouncer on PostgreSQL under Patroni, with the files of `deploy/cluster`, while parts
 * of it are killed, frozen, stopped and replaced under load: nothing acknowledged is lost, clients get 503 at most, and all of it
 * recovers without a restart. Part of `npm run test:system`; skipped with a message where a part is not installed.
 */
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type Build, Cluster } from '../../tools/cluster/cluster.ts';
import type { DatabaseNode } from '../../tools/cluster/database-node.ts';
import { MISSING_PARTS } from '../../tools/cluster/parts.ts';
import { Webhooks } from '../crash/webhooks.ts';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { environmentOfProcess } from '../support/environment.ts';
import { MailServer } from '../support/mail-server.ts';
import { until } from '../support/until.ts';
import { Events } from './cluster/events.ts';
import { CLIENTS, Load } from './cluster/load.ts';
import { Verification } from './cluster/verify.ts';

/** In milliseconds: the machine may be busy. */
const TIMEOUT = 120_000;

/** How long the primary is frozen, in seconds, and whether its Patroni is, too. Its lease lasts for 20. */
const FREEZES = [10, 20, 25, 40].flatMap((time) =>
  [false, true].map((withPatroni) => ({ time, withPatroni })),
);

/** How long the load goes on after each recovery, in milliseconds. */
const SETTLED = 3000;

if (MISSING_PARTS.length > 0) {
  console.log(
    `SKIPPED: a cluster, because these packages are not installed here: ${MISSING_PARTS.join(', ')}`,
  );
  process.exit(0);
}

const faults: string[] = [];
const mails = await new MailServer().start();
const buildIn = (cwd?: string): Build => ({
  parameters: ['--import', './test/support/fixture-host.ts', 'dist/main.js'],
  environment: { ...environmentOfProcess(), ...mails.settings },
  ...(cwd !== undefined && { cwd }),
});
const cluster = await Cluster.prepare(() => undefined);
const load = new Load(cluster.api);
const copy = CopyOfProject.untilExit();
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void end().finally(() => process.exit(1)));
try {
  await addMigration();
  await cluster.start(buildIn());
  const webhooks = await Webhooks.start(load, cluster.settings);
  const events = await Events.open(cluster.api, load);
  load.start();
  await events.untilReceived();

  await during('A replica is killed', killReplica);
  await during('PgBouncer restarts', () => cluster.restartPooler());
  await during('Patroni switches over', switchOver, { hasPrimary: false });
  await during('The primary is killed', killPrimary, { hasPrimary: false });
  for (const { time, withPatroni } of FREEZES) {
    const what = `The primary${withPatroni ? ' and its Patroni are' : ' is'} frozen for ${time} s`;
    await during(what, () => freeze(time, withPatroni), { hasPrimary: false });
  }
  await during('etcd is away for ten seconds', stopEtcd, { hasPrimary: false });
  await during('A new build with a migration', rollOut);

  await within('the load stops', load.stop());
  faults.push(...load.faults.splice(0));
  const verification = new Verification(cluster.api, load);
  await verification.dummies(3 + FREEZES.length);
  await verification.stubs();
  await verification.accounts(new Set((await query('SELECT email FROM accounts')).map(({ email }) => email)));
  await events.verify([...load.stubs.values()].map((stub) => JSON.parse(stub).data.id));
  await webhooks.verify(events.ids);
  await until(
    'each account has its mail',
    () => load.accounts.every((email) => mails.to(email).length > 0),
    TIMEOUT,
  );
  await webhooks.stop();
  faults.push(...verification.faults, ...events.faults, ...load.faults);
} catch (error) {
  faults.push(...load.faults, (error as Error).stack!);
} finally {
  if (faults.length > 0) printErrors();
  await end();
}
for (const fault of new Set(faults)) console.log(`  Failed: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

/**
 * Causes a fault under load, and waits until each replica is ready and serves requests of each kind, the proxy does, and
 * there is a standby again.
 *
 * @param cause returns when Patroni has a primary again, if it had none
 * @param hasPrimary whether there is a primary all the time; if not, some requests must get 503
 */
async function during(
  what: string,
  cause: () => Promise<number | void>,
  { hasPrimary = true } = {},
): Promise<void> {
  const start = performance.now();
  const before = { served: load.served, unavailable: load.unavailable, lost: load.lost };
  const primaryAt = await cause();
  const caused = performance.now();
  await until('each replica is ready', areReplicasReady, TIMEOUT);
  for (const n of cluster.replicas.keys()) {
    const direct = new Load(cluster.addressOf(n), load);
    const serves = `replica ${n + 1} serves each kind of request`;
    await until(serves, () => within(serves, direct.once()), TIMEOUT);
  }
  await until('requests of each kind are served', () => load.hasServedSince(caused), TIMEOUT);
  await cluster.untilSynchronous();
  await sleep(SETTLED);
  load.losesRequests = false;
  const count = (name: keyof typeof before) => load[name] - before[name];
  const pause = `longest pause between writes ${seconds(load.longestPauseSince(start))}`;
  const recovery =
    primaryAt === undefined
      ? ''
      : `, of which ${seconds(load.firstWriteAfter(primaryAt)! - primaryAt)} after Patroni had a primary`;
  console.log(
    `${what}: ${count('served')} requests served, ${count('unavailable')} got 503, ${count('lost')} lost; ${pause}${recovery}`,
  );
  faults.push(...load.faults.splice(0).map((fault) => `${what}: ${fault}`));
  // Each client has one request at a time.
  if (count('lost') > Object.values(CLIENTS).reduce((sum, clients) => sum + clients))
    faults.push(`${what}: more requests were lost than a replica had`);
  if (!hasPrimary && count('unavailable') === 0) faults.push(`${what}: no request noticed it`);
}

/** At the replicas themselves: the proxy hides one that does not recover. @throws Error if one has ended */
async function areReplicasReady(): Promise<boolean> {
  const areReady = cluster.replicas.map(async ({ name, isRunning }, n) => {
    if (!isRunning) throw new Error(`${name} has ended`);
    return fetch(`${cluster.addressOf(n)}/health/ready`, { signal: AbortSignal.timeout(5000) }).then(
      async (reply) => {
        await reply.body?.cancel();
        return reply.ok;
      },
      () => false,
    );
  });
  return (await Promise.all(areReady)).every(Boolean);
}

async function killReplica(): Promise<void> {
  load.losesRequests = true;
  cluster.replicas[0]!.kill();
  await sleep(3000);
  await cluster.startReplica(0, buildIn());
}

/** @returns when the standby is the primary */
async function switchOver(): Promise<number> {
  const standby = await findStandby();
  const [time] = await Promise.all([untilPrimary(standby), cluster.switchOver()]);
  return time;
}

async function killPrimary(): Promise<number> {
  const standby = await findStandby();
  const primary = cluster.nodes.find((node) => node !== standby)!;
  await primary.kill();
  const time = await untilPrimary(standby);
  primary.start();
  return time;
}

/** @returns when Patroni has a primary again, the same one or the standby */
async function freeze(time: number, withPatroni: boolean): Promise<number> {
  const thaw = (await cluster.primary())!.freeze(withPatroni);
  await sleep(time * 1000);
  thaw();
  return untilPrimary();
}

/** Without etcd, Patroni lets no node be the primary, because it does not know what the others do. */
async function stopEtcd(): Promise<number> {
  await cluster.etcd.end();
  const start = performance.now();
  await until('Patroni has no primary', async () => (await cluster.primary()) === undefined, TIMEOUT);
  await sleep(Math.max(0, 10_000 - (performance.now() - start)));
  cluster.etcd.start();
  return untilPrimary();
}

/** The former build goes on while the migration runs, at the server itself. */
async function rollOut(): Promise<void> {
  const direct = { DATABASE_URL: cluster.serverUrl, DATABASE_POOLER: 'none' };
  const env = { ...environmentOfProcess(), ...cluster.settings, ...direct };
  const command = ['dist/commands/migrate.js', '--yes'];
  await promisify(execFile)(process.execPath, command, { cwd: copy.folder, env });
  await query('SELECT nickname FROM accounts LIMIT 1');
  for (const n of cluster.replicas.keys()) await cluster.startReplica(n, buildIn(copy.folder));
}

/** Builds a copy of the service that has one more migration. */
async function addMigration(): Promise<void> {
  copy.write(
    'src/platform/database/migrations/1799000000000-nicknames.ts',
    `import type { QueryRunner } from 'typeorm';

export class Nicknames1799000000000 {
  async up(runner: QueryRunner): Promise<void> {
    // Longer than the statement timeout of the role.
    await runner.query('SELECT pg_sleep(9)');
    await runner.query('ALTER TABLE accounts ADD COLUMN nickname text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE accounts DROP COLUMN nickname');
  }
}
`,
  );
  // The replicas may run as another user.
  chmodSync(copy.folder, 0o755);
  await copy.mustRun(process.execPath, '--no-warnings', 'tools/build.ts');
}

/** @throws Error if it takes too long */
async function within<T>(what: string, result: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = sleep(TIMEOUT, undefined, { signal: late.signal }).then(
    () => Promise.reject(new Error(`Timed out before ${what}`)),
    () => result,
  );
  return Promise.race([result, timer]).finally(() => late.abort());
}

async function query(sql: string): Promise<Record<string, any>[]> {
  const client = new Client(cluster.databaseUrl);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function findStandby(): Promise<DatabaseNode> {
  const primary = await cluster.primary();
  return cluster.nodes.find((node) => node !== primary)!;
}

/** @returns when the node, or any, is the primary */
async function untilPrimary(node?: DatabaseNode): Promise<number> {
  const isThere = node ? () => node.isPrimary() : async () => (await cluster.primary()) !== undefined;
  for (const start = performance.now(); performance.now() - start < TIMEOUT; await sleep(50))
    if (await isThere()) return performance.now();
  throw new Error('Patroni has no primary');
}

/** The errors that the replicas have logged, with their causes. */
function printErrors(): void {
  for (const n of [1, 2, 3]) {
    const lines = readFileSync(join(cluster.folder, `replica${n}.log`), 'utf8').split('\n');
    console.log(
      lines
        .filter((line) => line.includes('"level":50'))
        .slice(0, 5)
        .join('\n'),
    );
  }
}

async function end(): Promise<void> {
  await cluster.stop();
  await mails.stop();
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
