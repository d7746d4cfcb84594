/**
 * Measures how response times depend on the stored data: the same requests to databases of different
 * sizes, with as many events as posts, one request at a time and in turn, to even out changes of the machine.
 *
 *     npm run bench:scale [-- --sizes 1000,100000,1000000 --store SQLite --requests 200 --only connection]
 *
 * `--databases` measures existing databases of these sizes, by their addresses or folders. `--seconds` measures requests
 * per second of 32 clients instead, in rounds in turn.
 */
import { randomUUID } from 'node:crypto';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { createStore, STORES, type StoreName, type TestStore } from '../../test/support/stores.ts';
import { fill } from '../support/databases.ts';
import { seedEvents } from '../support/events-seed.ts';
import { load } from '../support/load.ts';
import { Server } from '../support/server.ts';
import { spread, table } from '../support/statistics.ts';

const { values } = parseCommandLine(
  'Usage: npm run bench:scale [-- --sizes 1000,100000,1000000 --store SQLite --requests 200 --databases A,B,C --only search --seconds 5]',
  {
    options: {
      sizes: { type: 'string', default: '1000,100000,1000000' },
      store: { type: 'string' },
      requests: { type: 'string', default: '200' },
      databases: { type: 'string' },
      only: { type: 'string' },
      seconds: { type: 'string' },
    },
  },
);
const sizes = values.sizes.split(',').map(Number);
const requests = Number(values.requests);

interface Request {
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Scenario {
  readonly name: string;
  /** A request to a database with that many posts. */
  readonly request: (size: number) => Request;
  /** The number of requests, if they are slow; otherwise that of the command line. */
  readonly times?: number;
  /** The goal: a multiple of the smallest size's median, or milliseconds. */
  readonly goal?: { readonly factor: number } | { readonly milliseconds: number };
}

/** Of each rate. */
const ROUNDS = 5;

const anyId = (size: number) => 1 + Math.floor(Math.random() * size);
const constant = { factor: 1.5 };
const content = 'Some words of a content that is about as long as a short paragraph. '.repeat(8);

/** What connections are sorted by. */
const ORDERS = ['createdAt', 'title', 'views'];

const CONNECTION = `query ($after: String, $orderBy: PostOrder) {
  posts(first: 20, after: $after, orderBy: $orderBy) {
    edges { cursor node { id title status createdAt author { id name } } }
    pageInfo { hasNextPage endCursor }
  }
}`;

const connection = (field: string, direction: 'ASC' | 'DESC', after?: string): Request => ({
  path: '/graphql',
  method: 'POST',
  body: JSON.stringify({ query: CONNECTION, variables: { after, orderBy: { field, direction } } }),
});

/** The cursor before the last page of each order, by its field and the number of posts. */
const lastPages = new Map<string, string>();

/** A cursor has the name of its order, which ends with the direction: turned, it is one of the opposite order. */
async function findLastPages(url: string, size: number): Promise<void> {
  for (const field of ORDERS) {
    const { path, ...init } = connection(field, 'ASC');
    const reply = await fetch(url + path, { ...init, headers: JSON_TYPE });
    const { data } = (await reply.json()) as { data: any };
    const [name, ...position] = JSON.parse(
      Buffer.from(data.posts.pageInfo.endCursor, 'base64url').toString(),
    );
    const turned = JSON.stringify([name.replace(/ASC$/, 'DESC'), ...position]);
    lastPages.set(`${field} ${size}`, Buffer.from(turned).toString('base64url'));
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

const SCENARIOS: Scenario[] = [
  { name: 'page 1', request: () => ({ path: '/v1/posts' }), goal: constant },
  { name: 'page 1 by status', request: () => ({ path: '/v1/posts?status=published' }) },
  { name: 'one post', request: (size) => ({ path: `/v1/posts/${anyId(size)}` }), goal: constant },
  { name: 'cursor page', request: () => ({ path: '/v1/posts/cursor' }), goal: constant },
  {
    name: 'deep cursor page',
    request: (size) => ({ path: `/v1/posts/cursor?cursor=${encodeURIComponent(btoa(String(size - 100)))}` }),
    goal: constant,
  },
  ...ORDERS.flatMap((field): Scenario[] => [
    { name: `connection by ${field}, first page`, request: () => connection(field, 'DESC'), goal: constant },
    {
      name: `connection by ${field}, last page`,
      request: (size) => connection(field, 'DESC', lastPages.get(`${field} ${size}`)),
      goal: constant,
    },
  ]),
  {
    // The title of each seeded post ends with its number in base 36: one match, or very few.
    name: 'search, few matches',
    request: (size) => ({
      path: `/v1/posts?q=${(size - 1 - (anyId(size) % 500)).toString(36).padStart(3, ' ')}`,
    }),
    goal: { milliseconds: 20 },
  },
  { name: 'search, common word', times: 10, request: () => ({ path: '/v1/posts?q=water' }) },
  {
    name: 'search, common words',
    times: 10,
    request: () => ({ path: '/v1/posts?q=machine+learn+market' }),
  },
  { name: 'search, two letters', times: 10, request: () => ({ path: '/v1/posts?q=zq' }) },
  { name: 'feed, first page', request: () => ({ path: '/v1/events' }), goal: constant },
  {
    name: 'feed, a rare type',
    request: () => ({ path: '/v1/events?types=user.deleted&limit=1' }),
    goal: constant,
  },
  {
    name: 'feed, a type without events',
    request: () => ({ path: '/v1/events?types=user.created' }),
    goal: constant,
  },
  {
    name: 'create',
    request: () => ({
      path: '/v1/posts',
      method: 'POST',
      body: JSON.stringify({ title: 'A new post', content }),
    }),
    goal: constant,
  },
  {
    name: 'order with a key',
    request: () => ({
      path: '/v1/orders',
      method: 'POST',
      body: JSON.stringify({ item: 'Tea', note: content }),
      headers: { 'idempotency-key': randomUUID() },
    }),
    goal: constant,
  },
  {
    name: 'update',
    request: (size) => ({
      path: `/v1/posts/${anyId(size)}`,
      method: 'PATCH',
      body: JSON.stringify({ title: `Title ${Math.random()}` }),
    }),
    goal: constant,
  },
];

if (values.databases === undefined) await measureNew();
else await measure(values.store ?? 'PostgreSQL', values.databases.split(',').map(existing));

async function measureNew(): Promise<void> {
  const postgres = await startPostgres();
  process.env['TEST_DATABASE_URL'] = postgres.url;
  try {
    for (const store of STORES) {
      if (values.store && values.store !== store) continue;
      const stores: TestStore[] = [];
      for (const size of sizes) stores.push(await seed(store, size));
      await measure(store, stores);
      for (const testStore of stores) await testStore.remove();
    }
  } finally {
    await postgres.stop();
  }
}

/** An address of PostgreSQL, or a folder of SQLite. */
function existing(place: string): Pick<TestStore, 'environment'> {
  return {
    environment: place.startsWith('postgres') ? { DATABASE_URL: place } : { DATA_DIR: place },
  };
}

async function seed(store: StoreName, size: number): Promise<TestStore> {
  const testStore = await createStore(store);
  process.stderr.write(`${store}: seeding ${size.toLocaleString('en')} posts\n`);
  fill(testStore.environment, ['posts/seed', '--posts', String(size)]);
  await seedEvents(testStore.environment, size);
  return testStore;
}

async function measure(store: string, stores: readonly Pick<TestStore, 'environment'>[]): Promise<void> {
  const servers: Server[] = [];
  for (const { environment } of stores) servers.push(await Server.service(environment));
  for (const [index, size] of sizes.entries()) await findLastPages(servers[index]!.url, size);

  const wanted = SCENARIOS.filter(({ name }) => !values.only || name.includes(values.only));
  const urls = servers.map(({ url }) => url);
  if (values.seconds === undefined) await measureTimes(store, urls, wanted);
  else await measureRates(store, urls, wanted, Number(values.seconds));
  for (const server of servers) await server.stop();
}

async function measureTimes(
  store: string,
  urls: readonly string[],
  wanted: readonly Scenario[],
): Promise<void> {
  const rows: string[][] = [];
  for (const { name, request, goal, times: count = requests } of wanted) {
    process.stderr.write(`\r\x1b[2K${store}: ${name}`);
    const times: number[][] = sizes.map(() => []);
    const warmUp = Math.min(20, count);
    for (let n = 0; n < count + warmUp; n++) {
      for (const [index, size] of sizes.entries()) {
        // One measurement is enough for a search that takes too long.
        if (times[index]!.includes(Infinity)) continue;
        const milliseconds = await timed(urls[index]!, request(size));
        if (n >= warmUp || milliseconds === Infinity) times[index]!.push(milliseconds);
      }
    }
    const medians = times.map((list) => spread(list).median);
    rows.push([
      name,
      ...medians.map((median) => (Number.isFinite(median) ? `${median.toFixed(2)} ms` : '503')),
      Number.isFinite(medians.at(-1)) ? (medians.at(-1)! / medians[0]!).toFixed(2) : '',
      !goal ? '' : 'factor' in goal ? `≤ ${goal.factor} times` : `≤ ${goal.milliseconds} ms`,
    ]);
  }
  print(`${store}, median of ${requests} requests one after the other`, rows, ['goal']);
}

/** Each size in turn, in rounds: the first warms up. */
async function measureRates(
  store: string,
  urls: readonly string[],
  wanted: readonly Scenario[],
  seconds: number,
): Promise<void> {
  const rows: string[][] = [];
  // The others are searches that take too long, and get 503.
  for (const { name, request } of wanted.filter(({ times }) => times === undefined)) {
    const rates: number[][] = sizes.map(() => []);
    for (let round = 0; round <= ROUNDS; round++) {
      process.stderr.write(`\r\x1b[2K${store}: ${name}, round ${round} of ${ROUNDS}`);
      for (const [index, size] of sizes.entries()) {
        const next = () => {
          const { path, method, body, headers } = request(size);
          return {
            name,
            path: () => path,
            ...(method && { method }),
            ...(body && { body: () => body }),
            ...(headers && { headers: () => headers }),
          };
        };
        const rate = await load(urls[index]!, { name, path: () => '', next }, seconds);
        if (round > 0) rates[index]!.push(rate);
      }
    }
    const medians = rates.map((list) => spread(list).median);
    rows.push([
      name,
      ...medians.map((median) => Math.round(median).toLocaleString('en')),
      (medians.at(-1)! / medians[0]!).toFixed(2),
    ]);
  }
  print(`${store}, requests per second of 32 clients, median of ${ROUNDS} rounds`, rows);
}

function print(title: string, rows: readonly string[][], columns: readonly string[] = []): void {
  process.stderr.write('\r\x1b[2K');
  console.log(`\n${title}\n`);
  const counts = sizes.map((size) => size.toLocaleString('en'));
  console.log(table(['posts', ...counts, 'last / first', ...columns], rows));
}

async function timed(url: string, { path, method = 'GET', body, headers }: Request): Promise<number> {
  const start = process.hrtime.bigint();
  const reply = await fetch(url + path, {
    method,
    ...(body && { body, headers: { ...JSON_TYPE, ...headers } }),
  });
  await reply.text();
  if (reply.status === 503) return Infinity;
  if (!reply.ok) throw new Error(`${method} ${path} got ${reply.status}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}
