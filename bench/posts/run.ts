/**
 * Compares the service with a hand-written server (`baseline.ts`) on the same data. Both are loaded in
 * turn, in many short rounds; the result is the ratio within a round, because the machine's speed changes.
 *
 *     npm run bench [-- --rounds 25 --seconds 1 --store SQLite --only create]
 */
import { randomUUID } from 'node:crypto';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import type { StoreName } from '../../test/support/stores.ts';
import { compareResponses } from './compare-responses.ts';
import { type Environment, fill, onEachStore } from '../support/databases.ts';
import { numberEvents } from '../support/events-number.ts';
import { load, type Scenario } from '../support/load.ts';
import { POSTS_WITH_AUTHORS, UPDATE_USER, USER_WITH_POSTS, USERS } from './operations.ts';
import { Server } from '../support/server.ts';
import { spread, table } from '../support/statistics.ts';

const POSTS = 1000;

/** The requests after which code is compiled, and the maximum warm-up in seconds. */
const WARM_UP = { requests: 15_000, seconds: 20 };

const anyId = () => 1 + Math.floor(Math.random() * POSTS);
const text = 'Some words of a content that is about as long as a short paragraph. '.repeat(8);

const LISTS_GOAL = { SQLite: 0.9, PostgreSQL: 0.9 };

const ONE_POST: Scenario = {
  name: 'one post',
  path: () => `/v1/posts/${anyId()}`,
  goal: { SQLite: 0.75, PostgreSQL: 0.9 },
};
const LIST: Scenario = { name: 'list, page 1', path: () => '/v1/posts', goal: LISTS_GOAL };
const CREATE: Scenario = {
  name: 'create',
  method: 'POST',
  path: () => '/v1/posts',
  body: () => JSON.stringify({ title: 'A new post', content: text }),
};
const UPDATE: Scenario = {
  name: 'update',
  method: 'PATCH',
  path: () => `/v1/posts/${anyId()}`,
  body: () => JSON.stringify({ title: `Title ${Math.random()}` }),
};

/** The shares of a service that is read more than written. */
const MIX = [ONE_POST, ONE_POST, ONE_POST, ONE_POST, ONE_POST, ONE_POST, LIST, LIST, CREATE, UPDATE];

/** The entity tags of the posts, and the requested post. */
const tags: string[] = [];
let current = 1;

const SCENARIOS: Scenario[] = [
  { name: 'health', path: () => '/health' },
  ONE_POST,
  {
    name: 'one post, not modified',
    path: () => `/v1/posts/${(current = anyId())}`,
    headers: () => ({ 'if-none-match': tags[current]! }),
  },
  LIST,
  { name: 'list by status', path: () => '/v1/posts?status=draft', goal: LISTS_GOAL },
  {
    name: 'cursor page',
    path: () => `/v1/posts/cursor?cursor=${encodeURIComponent(btoa(String(anyId())))}`,
  },
  CREATE,
  {
    // The hand-written server ignores the key.
    ...CREATE,
    name: 'create with a key',
    headers: () => ({ 'idempotency-key': randomUUID() }),
  },
  {
    // The hand-written server looks the key up, and stores the response in the transaction of the order.
    name: 'order',
    method: 'POST',
    path: () => '/v1/orders',
    headers: () => ({ 'idempotency-key': randomUUID() }),
    body: () => JSON.stringify({ item: 'Tea', note: text }),
    goal: { SQLite: 0.85 },
  },
  UPDATE,
  {
    name: 'mixed reads and writes',
    path: () => '',
    next: () => MIX[Math.floor(Math.random() * MIX.length)]!,
  },
  ...Object.entries({
    'GraphQL: ten users': USERS,
    'GraphQL: a user, 20 posts': USER_WITH_POSTS,
    'GraphQL: 20 posts, their authors': POSTS_WITH_AUTHORS,
    'GraphQL: update a user': UPDATE_USER,
  }).flatMap(([name, operation]): Scenario[] => {
    const request = {
      method: 'POST',
      path: () => '/graphql',
      body: () => JSON.stringify(operation),
    } as const;
    const goal = operation === UPDATE_USER ? 0.7 : 0.8;
    // Without the cost of Apollo Server, which is most of the difference to Mercurius.
    const toApollo = {
      ...request,
      name: `${name}, to Apollo`,
      pathByHand: () => '/apollo',
      goal: { SQLite: goal, PostgreSQL: goal },
    };
    // Mercurius has no connections.
    return operation === POSTS_WITH_AUTHORS ? [toApollo] : [{ ...request, name }, toApollo];
  }),
];

/** Compared with a plain Nest application: the cost of the service without that of Nest. */
const TO_NEST = Object.entries({
  'one post': { SQLite: 0.8, PostgreSQL: 0.85 },
  'list, page 1': { SQLite: 0.9, PostgreSQL: 0.9 },
  'list by status': { SQLite: 0.9, PostgreSQL: 0.9 },
  'cursor page': { SQLite: 0.9, PostgreSQL: 0.9 },
  create: { SQLite: 0.85, PostgreSQL: 0.85 },
  update: { SQLite: 0.85, PostgreSQL: 0.85 },
}).map(([name, goal]): Scenario => {
  const scenario = SCENARIOS.find((each) => each.name === name)!;
  return {
    ...scenario,
    name: `${name}, to Nest`,
    pathByHand: () => `/nest${scenario.path()}`,
    goal,
  };
});

const { values } = parseCommandLine(
  'Usage: npm run bench [-- --rounds 25 --seconds 1 --store SQLite --only create]',
  {
    options: {
      rounds: { type: 'string', default: '25' },
      seconds: { type: 'string', default: '1' },
      store: { type: 'string' },
      only: { type: 'string' },
    },
  },
);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

await onEachStore(values.store, measure);

async function measure(store: StoreName, environment: Environment): Promise<void> {
  fill(environment, ['posts/seed', '--posts', String(POSTS)]);
  const service = await Server.service(environment);
  for (let n = 1; n <= 20; n++) {
    await fetch(`${service.url}/v1/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: `User ${n}`, email: `user${n}@example.com` }),
    });
  }
  const baseline = await Server.start('bench/posts/baseline.ts', environment, ['--no-warnings']);
  await compareResponses(service.url, baseline.url);
  for (let id = 1; id <= POSTS; id++) {
    tags[id] = (await fetch(`${service.url}/v1/posts/${id}`)).headers.get('etag')!;
  }

  const rows: string[][] = [];
  for (const scenario of [...SCENARIOS, ...TO_NEST].filter(
    ({ name }) => !values.only || name.includes(values.only),
  )) {
    const ours: Rate[] = [];
    const theirs: Rate[] = [];
    const byHand = { ...scenario, path: scenario.pathByHand ?? scenario.path };
    await warmUp(service.url, scenario);
    await warmUp(baseline.url, byHand);
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`\r\x1b[2K${store}, ${scenario.name}: round ${round} of ${rounds}`);
      ours.push(await rateOf(service, scenario));
      await numberEvents(service);
      theirs.push(await rateOf(baseline, byHand));
      await numberEvents(service);
    }
    const ratioOf = (unit: keyof Rate) =>
      spread(ours.map((rate, round) => rate[unit] / theirs[round]![unit]));
    const ratio = ratioOf('perSecond');
    rows.push([
      scenario.name,
      Math.round(spread(ours.map(({ perSecond }) => perSecond)).median).toLocaleString('en'),
      Math.round(spread(theirs.map(({ perSecond }) => perSecond)).median).toLocaleString('en'),
      `${ratio.min.toFixed(2)} … **${ratio.median.toFixed(2)}** … ${ratio.max.toFixed(2)}`,
      ratioOf('perCpuSecond').median.toFixed(2),
      scenario.goal?.[store]?.toFixed(2) ?? '',
    ]);
  }
  process.stderr.write('\r\x1b[2K');
  console.log(`\n${store}\n`);
  console.log(
    table(
      ['', 'service, req/s', 'hand-written, req/s', 'ratio: min … median … max', 'per CPU second', 'goal'],
      rows,
    ),
  );

  await service.stop();
  await baseline.stop();
}

/** Requests of a round. The processor time is that of the server alone, whatever else the machine does. */
interface Rate {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

async function rateOf(server: Server, scenario: Scenario): Promise<Rate> {
  const before = server.cpuSeconds();
  const perSecond = await load(server.url, scenario, seconds);
  return { perSecond, perCpuSecond: (perSecond * seconds) / (server.cpuSeconds() - before) };
}

async function warmUp(url: string, scenario: Scenario): Promise<void> {
  let requests = 0;
  for (let second = 0; second < WARM_UP.seconds && requests < WARM_UP.requests; second++) {
    requests += await load(url, scenario, 1);
  }
}
