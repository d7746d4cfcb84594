/**
 * Measures what a credential costs: `GET /auth/me/` with an API key compared with an access token, in turn, in many short
 * rounds. With `--before`, the access token is also compared with an earlier version that was built in another folder.
 *
 *     npm run bench:credentials [-- --rounds 15 --seconds 1 --store SQLite --before ../earlier]
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import { createStore, STORES, type StoreName } from '../test/support/stores.ts';
import { load, type Scenario } from './support/load.ts';
import { Server } from './support/server.ts';
import { spread, table } from './support/statistics.ts';

const GOAL = '0.95';

const account = { email: 'ada@example.com', name: 'Ada', password: 'first programmer' };

const { values } = parseCommandLine(
  'Usage: npm run bench:credentials [-- --rounds 15 --seconds 1 --store SQLite --before ../earlier]',
  {
    options: {
      rounds: { type: 'string', default: '15' },
      seconds: { type: 'string', default: '1' },
      store: { type: 'string' },
      before: { type: 'string' },
    },
  },
);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
const rows: string[][] = [];
try {
  for (const store of STORES) if (!values.store || values.store === store) await measure(store);
} finally {
  await postgres.stop();
}
console.log(table(['GET /auth/me/', 'req/s', 'compared', 'ratio: min … median … max', 'goal'], rows));
process.exit(0);

async function measure(store: StoreName): Promise<void> {
  const now = await startServer(store, (environment) => Server.service(environment));
  const [token, key] = [await logIn(now.server.url), await keyOf(now.server.url)];
  rows.push(await compare(`${store}: API key to token`, [now.server.url, key], [now.server.url, token]));
  if (values.before !== undefined) {
    const script = resolve(values.before, 'dist/main.js');
    const before = await startServer(
      store,
      (environment) => Server.start(script, environment),
      values.before,
    );
    const earlier = await logIn(before.server.url);
    rows.push(
      await compare(`${store}: token to before`, [now.server.url, token], [before.server.url, earlier]),
    );
    await before.stop();
  }
  await now.stop();
}

async function startServer(
  store: StoreName,
  start: (environment: Readonly<Record<string, string>>) => Promise<Server>,
  folder = '.',
) {
  const { environment, ...testStore } = await createStore(store);
  const { status, stderr } = spawnSync(process.execPath, ['dist/commands/migrate.js', '--yes'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...environment },
  });
  if (status !== 0) throw new Error(String(stderr));
  const server = await start({ ...environment, RATE_LIMIT: 'off' });
  return { server, stop: () => server.stop().then(() => testStore.remove()) };
}

async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<any> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return reply.json();
}

async function logIn(url: string): Promise<string> {
  await post(`${url}/auth/register/`, account);
  return (await post(`${url}/auth/login/`, account)).access;
}

async function keyOf(url: string): Promise<string> {
  const authorization = `Bearer ${await logIn(url)}`;
  const created = await post(`${url}/auth/api-keys/`, { name: 'A', scope: 'read' }, { authorization });
  return created.data.key;
}

type Side = readonly [url: string, credential: string];

async function compare(name: string, a: Side, b: Side): Promise<string[]> {
  const run = ([url, credential]: Side) => {
    const headers = { authorization: `Bearer ${credential}` };
    const scenario: Scenario = { name, path: () => '/auth/me/', headers: () => headers };
    return load(url, scenario, seconds);
  };
  // Compiles the code of both.
  for (const side of [a, b, a, b]) await run(side);
  const speeds: number[] = [];
  const others: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`\r\u001B[2K${name}: round ${round + 1} of ${rounds}`);
    const [first, second] = [await run(a), await run(b)];
    speeds.push(first);
    others.push(second);
    ratios.push(first / second);
  }
  process.stderr.write('\r\u001B[2K');
  const { min, median, max } = spread(ratios);
  const ratio = [min, median, max].map((each) => each.toFixed(2)).join(' … ');
  return [name, medianOf(speeds), medianOf(others), ratio, GOAL];
}

function medianOf(values: readonly number[]): string {
  return String(Math.round(spread(values).median));
}
