/**
 * Measures what a credential costs: `GET /auth/me/` with an API key compared with an access token, in turn, in many
 * short rounds. With `--before`, the access token is also compared with an earlier version that was built in another folder.
 *
 *     npm run bench:credentials [-- --rounds 15 --seconds 1 --store SQLite --before ../earlier]
 */
import { resolve } from 'node:path';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { createStore, type StoreName } from '../test/support/stores.ts';
import { type Environment, fill, onEachStore } from './support/databases.ts';
import { load, type Scenario } from './support/load.ts';
import { Server } from './support/server.ts';
import { spread, table } from './support/statistics.ts';

const GOAL = '0.95';

const account = { email: 'ada@example.com', name: 'Ada', password: 'first programmer' };

const { values: options } = parseCommandLine(
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
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);

const rows: string[][] = [];
await onEachStore(options.store, measure);
console.log(table(['GET /auth/me/', 'req/s', 'compared', 'ratio: min … median … max', 'goal'], rows));
process.exit(0);

async function measure(store: StoreName, environment: Environment): Promise<void> {
  fill(environment);
  const now = await Server.service(environment);
  const [token, key] = [await logIn(now.url), await keyOf(now.url)];
  rows.push(await compare(`${store}: API key to token`, [now.url, key], [now.url, token]));
  if (options.before !== undefined) {
    const other = await createStore(store);
    const before = await Server.start(resolve(options.before, 'dist/main.js'), other.environment);
    rows.push(
      await compare(`${store}: token to before`, [now.url, token], [before.url, await logIn(before.url)]),
    );
    await before.stop();
    await other.remove();
  }
  await now.stop();
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
