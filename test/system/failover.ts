/**
 * `DATABASE_URL` with two servers, a primary and its synchronous standby, under a load of writes: the primary is killed,
 * frozen or set to read-only, and the standby is promoted. Writes recover without a restart, and nothing that was
 * acknowledged is lost. Part of `npm run test:system`; skipped with a message where PostgreSQL is not installed.
 */
import { execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { environmentOfProcess } from '../support/environment.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { Standby, standbyBinaries } from '../support/standby.ts';
import { createStore } from '../support/stores.ts';
import { until } from '../support/until.ts';

const WRITERS = 6;
const READERS = 2;
/** How soon writes must recover after the promotion, in milliseconds. */
const RECOVERY_TIMEOUT = 10_000;

if (standbyBinaries === undefined) {
  console.log('SKIPPED: failover, because PostgreSQL is not installed here');
  process.exit(0);
}

const faults: string[] = [];
const expect = (what: string, isMet: boolean) => {
  if (!isMet) faults.push(what);
};
const first = await startOwnPostgres({ bin: standbyBinaries, durable: false });
process.env['TEST_DATABASE_URL'] = first.url;
const store = await createStore('PostgreSQL');
const second = await Standby.of(first.url, standbyBinaries);
const firstPort = new URL(first.url).port;
const { pathname } = new URL(store.environment['DATABASE_URL']!);
const environment = {
  ...store.environment,
  DATABASE_URL: `postgres://postgres:postgres@127.0.0.1:${firstPort},127.0.0.1:${new URL(second.url).port}${pathname}?target_session_attrs=read-write`,
  DATABASE_REPLICA_URLS: [first.url, second.url].map(databaseOn).join(','),
};
const service = await Service.start(environment);
const tail = spawn(process.execPath, ['dist/commands/events.js', 'tail'], {
  env: { ...environmentOfProcess(), ...environment },
});
let events = '';
tail.stdout.on('data', (chunk) => (events += chunk));
let back: Standby | undefined;
let thaw = (): void => undefined;

try {
  await until('events are printed', async () => (await service.post()).ok && events !== '');
  await first.run(`ALTER SYSTEM SET synchronous_standby_names = '*'`, 'SELECT pg_reload_conf()');
  await underLoad('A primary that is killed', second, async () => {
    await first.kill();
    await sleep(500);
    return () => second.query('SELECT pg_promote()');
  });
  await run('dist/commands/migrate.js');

  back = await Standby.of(second.url, standbyBinaries, firstPort);
  await second.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await second.query('SELECT pg_reload_conf()');
  const newPrimary = back;
  await underLoad('A primary that is frozen', newPrimary, async () => {
    thaw = await second.freeze();
    await sleep(500);
    return () => newPrimary.query('SELECT pg_promote()');
  });
  thaw();
  await sleep(3000);
  await writeOn(back, 'after the old primary is back');

  await back.query('ALTER SYSTEM SET default_transaction_read_only = on');
  await back.query('SELECT pg_reload_conf()');
  await until('writes are refused', async () => (await service.post()).status === 503);
  // Otherwise the service would switch to the former primary, which still accepts writes.
  await second.kill();
  expect('a write on a read-only server is 503', (await retryAfter()) === '5');
  await back.query('ALTER SYSTEM RESET default_transaction_read_only');
  await back.query('SELECT pg_reload_conf()');
  await until('writes are accepted', async () => (await service.post()).status === 201);
} finally {
  thaw();
  tail.kill('SIGINT');
  await service.end();
  await back?.stop();
  await second.stop();
  await first.stop();
  await rm(store.environment['DATA_DIR']!, { recursive: true });
}
for (const fault of faults) console.log(`  Failed: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

/**
 * Writes continuously while another server takes over.
 *
 * @param stopPrimary stops the primary, and returns a function that promotes the standby
 */
async function underLoad(
  what: string,
  newPrimary: Standby,
  stopPrimary: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  const acknowledged: number[] = [];
  const failures = new Map<string, number>();
  let lastWrite = 0;
  const end = new AbortController();
  const attempt = async (request: () => Promise<Response>) => {
    while (!end.signal.aborted) {
      const reply = await request();
      const body = (await reply.json()) as { data?: { id: number } };
      if (reply.status === 201) {
        acknowledged.push(body.data!.id);
        lastWrite = performance.now();
      } else if (reply.status !== 200) {
        const failure = `${reply.status} ${reply.headers.get('retry-after') ?? ''}`;
        failures.set(failure, (failures.get(failure) ?? 0) + 1);
        await sleep(50);
      }
    }
  };
  const clients = [
    ...Array.from({ length: WRITERS }, () => attempt(() => service.post())),
    ...Array.from({ length: READERS }, () => attempt(() => service.fetch('/v1/posts?limit=5'))),
  ];
  await sleep(1500);
  const before = acknowledged.length;
  const promote = await stopPrimary();
  const promoted = performance.now();
  await promote();
  const within = acknowledged.length;
  await until('writes recover', () => acknowledged.length > within && lastWrite > promoted, RECOVERY_TIMEOUT);
  const recovery = Math.round(performance.now() - promoted);
  await sleep(1500);
  end.abort();
  await Promise.all(clients);

  const lost = await countLost(newPrimary, acknowledged);
  console.log(
    `${what}: writes recovered ${recovery} ms after the promotion began; ${acknowledged.length} acknowledged, ${lost} of them lost; failed: ${[...failures].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  );
  expect(`${what}: writes succeed before the switch`, before > 0);
  expect(`${what}: no acknowledged write is lost, not ${lost}`, lost === 0);
  expect(`${what}: every failure is 503 with Retry-After: 5`, [...failures.keys()].join() === '503 5');
  await writeOn(newPrimary, what);
}

/** The service writes to the new primary, and its events arrive. */
async function writeOn(server: Standby, what: string): Promise<void> {
  const reply = await service.post();
  const { data } = (await reply.json()) as { data?: { id: number } };
  expect(`${what}: a write is 201, not ${reply.status}`, reply.status === 201);
  expect(`${what}: the write is on the new primary`, (await countLost(server, [data?.id ?? 0])) === 0);
  await until(`${what}: its event is printed`, () => events.includes(`/v1/posts/${data?.id}\n`));
}

async function countLost(server: Standby, ids: readonly number[]): Promise<number> {
  const client = new Client(databaseOn(server.url));
  await client.connect();
  const { rows } = await client.query<{ lost: number }>(
    'SELECT count(*)::int AS lost FROM unnest($1::bigint[]) AS sent (id) WHERE NOT EXISTS (SELECT 1 FROM posts WHERE posts.id = sent.id)',
    [ids],
  );
  await client.end();
  return rows[0]!.lost;
}

async function retryAfter(): Promise<string | null> {
  const reply = await service.post();
  return reply.status === 503 ? reply.headers.get('retry-after') : null;
}

function databaseOn(url: string): string {
  return Object.assign(new URL(url), { pathname }).href;
}

async function run(...command: readonly string[]): Promise<void> {
  const env = { ...environmentOfProcess(), ...environment };
  await promisify(execFile)(process.execPath, command, { env });
}
