/**
 * A primary and a streaming standby for reads, while the standby is paused, frozen, killed, restarted and
 * promoted under load: no read fails, and a client that sends its token reads what it has written. Part of
 * `npm run test:system`; skipped with a message where PostgreSQL is not installed.
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, promisify } from 'node:util';
import { Client } from 'pg';
import { environmentOfProcess } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { Standby, standbyBinaries } from '../support/standby.ts';
import { createStore } from '../support/stores.ts';
import { until } from '../support/until.ts';

const WRITERS = 3;
const READERS = 3;
/** Enough posts to make a search slow. */
const POSTS = 6000;

if (standbyBinaries === undefined) {
  console.log('SKIPPED: read replicas, because PostgreSQL is not installed here');
  process.exit(0);
}

const faults: string[] = [];
const expect = (what: string, isMet: boolean) => {
  if (!isMet) faults.push(what);
};
const primary = await startOwnPostgres({ bin: standbyBinaries, durable: false });
process.env['TEST_DATABASE_URL'] = primary.url;
const store = await createStore('PostgreSQL');

await run('dist/commands/migrate.js');
await run('dist/commands/seed.js', '--posts', String(POSTS));

const standby = await Standby.of(primary.url, standbyBinaries);

const replicaUrl = new URL(standby.url);
replicaUrl.pathname = new URL(store.environment['DATABASE_URL']!).pathname;
const metricsPort = await freePort();
const service = await Service.start({
  ...store.environment,
  DATABASE_REPLICA_URLS: replicaUrl.href,
  METRICS_PORT: String(metricsPort),
});

try {
  await until('the replica is used', isUsed);
  await underLoad('A standby that works', () => sleep(3000));
  const reads = await readsOfStandby();
  expect(`the standby is read (${reads} transactions)`, reads > 100);
  await underLoad('A standby that cancels reads', cancelReads);
  await underLoad('A standby that is paused', pause);
  await underLoad('A standby that is frozen', freeze);
  await underLoad('A standby that is killed and restarted', restart);
  await underLoad('A standby that is promoted', promote);
} catch (error) {
  faults.push(
    `${inspect(error)}\n  The service ${service.hasEnded ? 'ended' : 'runs'}: ${service.output.slice(-2000)}`,
  );
} finally {
  await service.end();
  await standby.stop();
  await store.remove();
  await primary.stop();
}
for (const fault of faults) console.log(`  Failed: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

/** The standby is no longer used once it is ten seconds behind, and used again when it has caught up. */
async function pause(): Promise<void> {
  await standby.query('SELECT pg_wal_replay_pause()');
  // The function only requests the pause.
  await until('the replay is paused', isPaused);
  const { id, token } = await write();
  expect('a list without a token comes from the standby', !(await isListed(id)));
  expect('a new post is found without a token', (await statusOf(id)) === 200);
  expect('a read with its token goes to the primary', (await statusOf(id, token)) === 200);
  await until('the paused standby is no longer used', async () => !(await isUsed()));
  expect('all reads go to the primary', await isListed(id));
  await standby.query('SELECT pg_wal_replay_resume()');
  await until('the standby is used again', isUsed);
}

async function freeze(): Promise<void> {
  const thaw = await standby.freeze();
  await until('the frozen standby is no longer used', async () => !(await isUsed()));
  thaw();
  await until('the standby is used again', isUsed);
}

async function restart(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await standby.kill();
    if (n === 0) await until('the killed standby is no longer used', async () => !(await isUsed()));
    await standby.start();
    await until('the standby is used again', isUsed);
  }
}

async function promote(): Promise<void> {
  await standby.query('SELECT pg_promote()');
  await until('the promoted standby is no longer used', async () => !(await isUsed()));
  const { id } = await write();
  expect('all reads go to the primary', await isListed(id));
}

/** The standby cancels reads that conflict with its recovery. */
async function cancelReads(): Promise<void> {
  await standby.query('ALTER SYSTEM SET max_standby_streaming_delay = 0');
  await standby.query('SELECT pg_reload_conf()');
  const database = replicaUrl.pathname.slice(1);
  const end = new AbortController();
  const searches = Array.from({ length: 4 }, async () => {
    while (!end.signal.aborted) {
      const reply = await service.fetch('/v1/posts?q=e&limit=1');
      await reply.arrayBuffer();
      if (reply.status !== 200) faults.push(`a search is 200, not ${reply.status}`);
    }
  });
  let conflicts = 0;
  for (let n = 0; n < 100 && conflicts < 5; n++) {
    await lockTable(store.environment['DATABASE_URL']!);
    await sleep(100);
    const [row] = await standby.query<{ count: number }>(
      `SELECT confl_lock::int AS count FROM pg_stat_database_conflicts WHERE datname = '${database}'`,
    );
    conflicts = row!.count;
  }
  end.abort();
  await Promise.all(searches);
  console.log(`  ${conflicts} reads were cancelled by the standby`);
  expect('the standby cancels reads', conflicts > 0);
}

async function lockTable(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query('BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE; SELECT txid_current(); COMMIT');
  await client.end();
}

/** Runs the action while some clients read what they have just written, and others read a post or a list. */
async function underLoad(what: string, action: () => Promise<void>): Promise<void> {
  const end = new AbortController();
  let served = 0;
  const failures: string[] = [];
  const attempt = async (request: () => Promise<string | undefined>) => {
    while (!end.signal.aborted) {
      const failure = await request().catch(String);
      served++;
      if (failure !== undefined) failures.push(failure);
    }
  };
  const clients = [
    ...Array.from({ length: WRITERS }, () => attempt(readOwnWrite)),
    ...Array.from({ length: READERS }, () => attempt(() => read('/v1/posts/1'))),
    attempt(() => read('/v1/posts?limit=5')),
  ];
  try {
    await action();
  } finally {
    end.abort();
    await Promise.all(clients);
  }
  console.log(`${what}: ${served} requests served, ${failures.length} failed or stale`);
  expect(`${what}: no read fails, not ${failures.slice(0, 3).join(', ')}`, failures.length === 0);
}

async function readOwnWrite(): Promise<string | undefined> {
  const { id, token } = await write();
  const status = await statusOf(id, token);
  return status === 200 ? undefined : `a read with its token is ${status}`;
}

async function read(path: string): Promise<string | undefined> {
  const reply = await service.fetch(path);
  await reply.arrayBuffer();
  return reply.status === 200 ? undefined : `${path} is ${reply.status}`;
}

async function write(): Promise<{ id: number; token: string }> {
  const reply = await service.post();
  const { data } = (await reply.json()) as { data: { id: number } };
  return { id: data.id, token: reply.headers.get('consistency-token')! };
}

async function statusOf(id: number, token?: string): Promise<number> {
  const headers: Record<string, string> = token === undefined ? {} : { 'consistency-token': token };
  const reply = await service.fetch(`/v1/posts/${id}`, { headers });
  await reply.arrayBuffer();
  return reply.status;
}

/** Whether the list by cursor has a post; without a token. */
async function isListed(id: number): Promise<boolean> {
  const cursor = encodeURIComponent(Buffer.from(String(id - 1)).toString('base64'));
  const response = await service.fetch(`/v1/posts/cursor?limit=1&cursor=${cursor}`);
  const { data } = (await response.json()) as { data: { id: number }[] };
  return data[0]?.id === id;
}

async function isUsed(): Promise<boolean> {
  // On its own connection: a kept one may be closed at the moment it is used again.
  const headers = { connection: 'close' };
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers })).text();
  return metrics.includes(`db_replica_up{replica="${replicaUrl.host}"} 1`);
}

async function isPaused(): Promise<boolean> {
  const [row] = await standby.query<{ state: string }>('SELECT pg_get_wal_replay_pause_state() AS state');
  return row!.state === 'paused';
}

async function readsOfStandby(): Promise<number> {
  const [row] = await standby.query<{ count: number }>(
    `SELECT xact_commit::int AS count FROM pg_stat_database WHERE datname = '${replicaUrl.pathname.slice(1)}'`,
  );
  return row!.count;
}

async function run(...command: readonly string[]): Promise<void> {
  const env = { ...environmentOfProcess(), ...store.environment };
  await promisify(execFile)(process.execPath, command, { env });
}
