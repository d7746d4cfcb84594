/**
 * Measures whether clients delay others: one client requests `/health` and one post, while 16 clients send the most
 * expensive accepted requests, one kind after the other.
 *
 *     npm run bench:fair [-- --posts 1000000 --clients 16 --seconds 10 --store SQLite --flood logins]
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import type { StoreName } from '../../test/support/stores.ts';
import { type Environment, fill, onEachStore } from '../support/databases.ts';
import { Server } from '../support/server.ts';
import { quantile, table } from '../support/statistics.ts';

const FLOODS = [
  'search, two letters',
  'search, common word',
  'deep page by title',
  'posts of a user by title',
  'GraphQL, the most objects',
  'GraphQL, nested posts',
  'GraphQL, 20,000 objects',
  'GraphQL, deep page',
  'posts of 500 KB',
  'posts of 10,000 members',
  'users of 10,000 members',
  'logins of 10,000 members',
  '/v1/orders of 20,000 members',
  'GraphQL, 10,000 members',
  'logins',
  'registrations',
];

/** Between two requests of the measured client, in milliseconds. */
const PAUSE = 10;

const { values } = parseCommandLine(
  'Usage: npm run bench:fair [-- --posts 1000000 --clients 16 --seconds 10 --store SQLite --flood logins]',
  {
    options: {
      posts: { type: 'string', default: '1000000' },
      clients: { type: 'string', default: '16' },
      seconds: { type: 'string', default: '10' },
      store: { type: 'string' },
      flood: { type: 'string' },
    },
  },
);
const seconds = Number(values.seconds);

await onEachStore(values.store, measure);

async function measure(store: StoreName, environment: Environment): Promise<void> {
  // Those of one author, then a hundred for each of a hundred authors.
  fill(
    environment,
    ['posts/seed', '--posts', values.posts],
    ['posts/seed', '--posts', '10000', '--users', '100'],
  );
  const server = await Server.service({ ...environment, TRUST_PROXY: '127.0.0.1' });
  await probe(server.url, 2);
  const rows = [['none', ...(await probe(server.url, seconds)), '', '']];
  for (const kind of FLOODS) {
    if (values.flood && values.flood !== kind) continue;
    process.stderr.write(`\r\x1b[2K${store}: ${kind}`);
    const flood = spawn(
      process.execPath,
      ['--no-warnings', 'bench/posts/flood.ts', server.url, kind, values.clients, values.posts],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const output = text(flood.stdout);
    await sleep(1000);
    const times = await probe(server.url, seconds);
    flood.kill('SIGTERM');
    const { served, unavailable } = JSON.parse(await output) as Record<string, number>;
    rows.push([kind, ...times, String(Math.round(served! / (seconds + 1))), String(unavailable)]);
    // Requests that are still running must not count for the next kind.
    await sleep(9000);
  }
  process.stderr.write('\r\x1b[2K');
  console.log(`\n${store}, ${values.posts} posts: p50, p99, maximum; goal: p99 < 100 ms, maximum < 500 ms\n`);
  console.log(table(['flood', 'health', 'one post', 'flood: served/s', '503'], rows));
  await server.stop();
}

/** @returns response times of `/health` and of one post, for a table */
async function probe(url: string, duration: number): Promise<string[]> {
  const paths = ['/health', '/v1/posts/1'];
  const times: number[][] = paths.map(() => []);
  const end = Date.now() + duration * 1000;
  while (Date.now() < end) {
    for (const [index, path] of paths.entries()) {
      const start = performance.now();
      const response = await fetch(url + path);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} got ${response.status}`);
      times[index]!.push(performance.now() - start);
    }
    await sleep(PAUSE);
  }
  return times.map((list) =>
    [0.5, 0.99, 1].map((share) => `${quantile(list, share).toFixed(1)} ms`).join(', '),
  );
}
