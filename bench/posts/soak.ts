/**
 * Measures whether memory grows: the heap after a garbage collection, before and after many requests of all kinds.
 *
 *     npm run bench:soak [-- --requests 100000 --store SQLite]
 */
import autocannon from 'autocannon';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import type { StoreName } from '../../test/support/stores.ts';
import { type Environment, onEachStore } from '../support/databases.ts';
import { table } from '../support/statistics.ts';

const { values } = parseCommandLine('Usage: npm run bench:soak [-- --requests 100000 --store SQLite]', {
  options: { requests: { type: 'string', default: '100000' }, store: { type: 'string' } },
});
const built = (file: string) => import(new URL(`../../dist/${file}`, import.meta.url).href);
const { createApp } = (await built('app.js')) as typeof import('../../src/app.js');
const { loadConfig } = (await built(
  'platform/config/load-config.js',
)) as typeof import('../../src/platform/config/load-config.js');

const requests = Number(values.requests);
const ROUNDS = 5;

const content = 'Some words of a content. '.repeat(20);
const MIX: autocannon.Request[] = [
  { path: '/v1/posts/1' },
  { path: '/v1/posts' },
  { path: '/v1/posts/cursor?limit=5' },
  { path: '/v1/posts?q=words&limit=1' },
  { path: '/v1/posts/999999999' },
  { path: '/nowhere' },
  { method: 'POST', path: '/v1/posts', body: '{"title":"","content":1}' },
  { method: 'PATCH', path: '/v1/posts/1', body: JSON.stringify({ content }) },
];

const rows: string[][] = [];
await onEachStore(values.store, soak);
const rounds = Array.from(
  { length: ROUNDS },
  (_, n) => `after ${((requests / ROUNDS) * (n + 1)).toLocaleString('en')}`,
);
console.log(table(['heap in MB', 'idle, resident', 'before', ...rounds], rows));
process.exit(0);

async function soak(store: StoreName, environment: Environment): Promise<void> {
  const app = await createApp(loadConfig({ LOG_LEVEL: 'silent', ...environment }));
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const resident = process.memoryUsage.rss() / 1e6;
  for (let n = 0; n < 50; n++) {
    await fetch(`${url}/v1/posts`, { method: 'POST', body: JSON.stringify({ title: 'A post', content }) });
  }
  await load(url, 5000);
  const heaps = [heap()];
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`\r\x1b[2K${store}: round ${round} of ${ROUNDS}`);
    await load(url, requests / ROUNDS);
    heaps.push(heap());
  }
  process.stderr.write('\r\x1b[2K');
  rows.push([store, resident.toFixed(0), ...heaps.map((megabytes) => megabytes.toFixed(1))]);
  await app.close();
}

function heap(): number {
  for (let n = 0; n < 3; n++) globalThis.gc!();
  return process.memoryUsage().heapUsed / 1e6;
}

/** In a worker, whose memory does not count. */
async function load(url: string, amount: number): Promise<void> {
  await autocannon({ url, connections: 16, amount, workers: 1, requests: MIX });
}
