/**
 * What more processes gain on PostgreSQL: the same load on one worker and on two, in turn, with requests per
 * second and the processor time that each request takes in the service (the database and the load not counted).
 *
 *     npm run bench:cores [-- --workers 2 --rounds 5 --seconds 3]
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import { startPostgres } from '../test/support/postgres-server.ts';
import { createStore } from '../test/support/stores.ts';
import { load, type Scenario } from './support/load.ts';
import { Server } from './support/server.ts';
import { spread, table } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: String(availableParallelism()) },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const POSTS = 1000;

const INTROSPECTION = JSON.stringify({ query: getIntrospectionQuery() });

const SCENARIOS: Scenario[] = [
  { name: 'health', path: () => '/health' },
  { name: 'one post', path: () => `/v1/posts/${1 + Math.floor(Math.random() * POSTS)}` },
  { name: 'list, page 1', path: () => '/v1/posts' },
  {
    // Work of the service alone, which is what more processes share; the rest leaves them little of two cores.
    name: 'GraphQL: introspection',
    method: 'POST',
    path: () => '/graphql',
    body: () => INTROSPECTION,
  },
];

const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
const { environment, ...store } = await createStore('PostgreSQL');
execFileSync(process.execPath, ['dist/commands/seed.js', '--posts', String(POSTS)], {
  env: { ...process.env, ...environment },
});
const servers = await Promise.all(
  ['1', values.workers].map((workers) =>
    Server.start('dist/main.js', { ...environment, WEB_CONCURRENCY: workers }),
  ),
);

const rows: string[][] = [];
for (const scenario of SCENARIOS) {
  const measured = servers.map(() => ({ rates: [] as number[], costs: [] as number[] }));
  for (const { url } of servers) await load(url, scenario, 1);
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`\r\x1b[2K${scenario.name}: round ${round} of ${rounds}`);
    for (const [index, server] of servers.entries()) {
      const before = processorTime(server.process.pid!);
      const rate = await load(server.url, scenario, seconds);
      measured[index]!.rates.push(rate);
      measured[index]!.costs.push((processorTime(server.process.pid!) - before) / (rate * seconds));
    }
  }
  const [one, more] = measured as [(typeof measured)[0], (typeof measured)[0]];
  const gain = spread(more.rates.map((rate, round) => rate / one.rates[round]!));
  rows.push([
    scenario.name,
    ...[one, more].map(({ rates }) => Math.round(spread(rates).median).toLocaleString('en')),
    `${gain.min.toFixed(2)} … **${gain.median.toFixed(2)}** … ${gain.max.toFixed(2)}`,
    ...[one, more].map(({ costs }) => `${(spread(costs).median * 1e6).toFixed(0)} µs`),
  ]);
}
process.stderr.write('\r\x1b[2K');
const many = `${values.workers} workers`;
console.log(table(['', '1 worker, req/s', `${many}, req/s`, 'gain', 'processor each, 1 worker', many], rows));
for (const server of servers) await server.stop();
await store.remove();
await postgres.stop();

/** What a process and its workers have used so far, in seconds; Linux keeps it in ticks of 10 ms. */
function processorTime(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [String(pid), ...children]
    .filter((id) => id !== '')
    .map((id) =>
      readFileSync(`/proc/${id}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' '),
    )
    .reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) / 100, 0);
}
