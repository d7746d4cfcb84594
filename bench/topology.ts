/**
 * Measures what each part of a larger installation costs a request: a proxy, a pooler, a read replica, a synchronous
 * standby and several servers, each compared with one process on one PostgreSQL, one request at a time and in turn.
 *
 *     npm run bench:topology [-- --requests 300]
 */
import { execFileSync, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { freePort } from '../test/support/free-port.ts';
import { startPgBouncer } from '../test/support/pgbouncer.ts';
import { startOwnPostgres } from '../test/support/postgres-server.ts';
import { Standby, standbyBinaries } from '../test/support/standby.ts';
import { createStore } from '../test/support/stores.ts';
import { Server } from './support/server.ts';
import { spread, table } from './support/statistics.ts';

const POSTS = 10_000;

/** Requests of the warm-up. */
const WARM_UP = 100;

const { values } = parseCommandLine('Usage: npm run bench:topology [-- --requests 300]', {
  options: { requests: { type: 'string', default: '300' } },
});
const requests = Number(values.requests);

const SCENARIOS: readonly { readonly name: string; readonly send: (url: string) => Promise<Response> }[] = [
  { name: 'one post', send: (url) => fetch(`${url}/v1/posts/${1 + Math.floor(Math.random() * POSTS)}`) },
  { name: 'list, page 1', send: (url) => fetch(`${url}/v1/posts`) },
  {
    name: 'create',
    send: (url) =>
      fetch(`${url}/v1/posts`, {
        method: 'POST',
        body: JSON.stringify({ title: 'A title', content: 'Some content' }),
      }),
  },
];

if (standbyBinaries === undefined) throw new Error('PostgreSQL is not installed here');
const primary = await startOwnPostgres({ bin: standbyBinaries });
process.env['TEST_DATABASE_URL'] = primary.url;
const store = await createStore('PostgreSQL');
const { environment } = store;
const address = environment['DATABASE_URL']!;
for (const [name, ...options] of [['migrate'], ['seed', '--posts', String(POSTS)]]) {
  execFileSync(process.execPath, [`dist/commands/${name}.js`, ...options], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
const standby = await Standby.of(primary.url, standbyBinaries);
const replica = Object.assign(new URL(address), { port: new URL(standby.url).port }).href;
const pooler = await startPgBouncer(address);

const direct = await Server.service(environment);
// A separate process: one that has just served a request is faster.
const behindProxy = await Server.service(environment);
const proxy = await startProxy(behindProxy.url);
const withPooler = await Server.service({
  ...environment,
  DATABASE_URL: pooler.url,
  DATABASE_POOLER: 'transaction',
});
const withReplica = await Server.service({ ...environment, DATABASE_REPLICA_URLS: replica });
const several = await Server.service({
  ...environment,
  DATABASE_URL: address.replace(/@([^/]+)/, `@$1,${new URL(replica).host}`),
});
const urls = { proxy: proxy.url, pooler: withPooler.url, replica: withReplica.url, several: several.url };
await sleep(2000);

const rows: string[][] = [];
for (const scenario of SCENARIOS) {
  const [first, ...others] = await medians(scenario.send, [direct.url, ...Object.values(urls)]);
  const [asynchronous] = await medians(scenario.send, [direct.url]);
  await setSynchronous('*');
  const [synchronous] = await medians(scenario.send, [direct.url]);
  await setSynchronous('');
  rows.push([
    scenario.name,
    `${first!.toFixed(2)} ms`,
    ...others.map((median) => (median / first!).toFixed(2)),
    (synchronous! / asynchronous!).toFixed(2),
  ]);
}
console.log(
  table(
    ['', 'one process', 'HAProxy', 'PgBouncer', 'read replica', 'several servers', 'synchronous standby'],
    rows,
  ),
);
const before = await scansOfPrimary();
for (let n = 0; n < requests; n++) await (await SCENARIOS[1]!.send(withReplica.url)).arrayBuffer();
const scans = (await scansOfPrimary()) - before;
console.log(`\n${requests} lists from the read replica are ${scans} scans of posts on the primary`);

for (const server of [direct, behindProxy, withPooler, withReplica, several]) await server.stop();
proxy.stop();
pooler.stop();
await standby.stop();
await store.remove();
await primary.stop();

/** The medians in milliseconds; measured in turn, to even out changes of the machine. */
async function medians(
  send: (url: string) => Promise<Response>,
  targets: readonly string[],
): Promise<number[]> {
  const times: number[][] = targets.map(() => []);
  for (let n = -WARM_UP; n < requests; n++) {
    // The first request in each turn is slower than the others.
    for (let place = 0; place < targets.length; place++) {
      const index = (place + Math.max(n, 0)) % targets.length;
      const target = targets[index]!;
      const start = performance.now();
      const reply = await send(target);
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`${target} responded with ${reply.status}`);
      if (n >= 0) times[index]!.push(performance.now() - start);
    }
  }
  return times.map((list) => spread(list).median);
}

async function setSynchronous(names: string): Promise<void> {
  await primary.run(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`, 'SELECT pg_reload_conf()');
  await sleep(500);
}

async function scansOfPrimary(): Promise<number> {
  // Servers report their position with a delay.
  await sleep(1500);
  const client = new Client(address);
  await client.connect();
  const { rows: found } = await client.query<{ count: number }>(
    `SELECT (seq_scan + idx_scan)::int AS count FROM pg_stat_user_tables WHERE relname = 'posts'`,
  );
  await client.end();
  return found[0]!.count;
}

/** HAProxy with the configuration of `deploy/haproxy`. */
async function startProxy(target: string): Promise<{ url: string; stop: () => void }> {
  const bind = `127.0.0.1:${await freePort()}`;
  const { host } = new URL(target);
  const child = spawn(
    process.env['HAPROXY_PATH'] ?? 'haproxy',
    ['-db', '-q', '-f', 'deploy/haproxy/haproxy.cfg'],
    {
      env: { ...process.env, PROXY_BIND: bind, REPLICA_1: host, REPLICA_2: host, REPLICA_3: host },
      stdio: 'ignore',
    },
  );
  process.once('exit', () => child.kill('SIGKILL'));
  return { url: `http://${bind}`, stop: () => child.kill('SIGKILL') };
}
