/**
 * Measures the memory of the service, and the time of `/health`, while clients ask for the largest responses and do
 * not read them.
 *
 *     npm run bench:memory [-- --seconds 20 --store SQLite]
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import type { StoreName } from '../../test/support/stores.ts';
import { type Environment, onEachStore } from '../support/databases.ts';
import { Server } from '../support/server.ts';
import { table } from '../support/statistics.ts';

const { values } = parseCommandLine('Usage: npm run bench:memory [-- --seconds 20 --store SQLite]', {
  options: { seconds: { type: 'string', default: '20' }, store: { type: 'string' } },
});

const MIB = 1024 * 1024;
const POSTS = 100;
/** Its frame in JSON makes the body 1 MiB. */
const CONTENT = 'x'.repeat(MIB - 100);
const CLIENTS = 30;
const DOCUMENTS = 300;
const FIELDS = (posts: string) =>
  `{ ${Array.from({ length: 10 }, (_, n) => `a${n}: user(id: 1) { ${posts} }`).join(' ')} }`;

const rows: string[][] = [];
await onEachStore(values.store, measure);
console.log(
  table(
    ['store', 'resident at start', 'most resident, goal < 550 MB', 'slowest /health, goal < 500 ms'],
    rows,
  ),
);

async function measure(store: StoreName, environment: Environment): Promise<void> {
  await createPosts(environment);
  const server = await Server.service({
    ...environment,
    TRUST_PROXY: '127.0.0.1',
    // What Node.js chooses in the 768 MiB that deploy/ gives a process.
    NODE_OPTIONS: '--max-old-space-size=384',
  });
  const resident = () => {
    const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1000;
  };
  const atStart = resident();

  const { port } = new URL(server.url);
  const sockets = Array.from({ length: CLIENTS }, (_, n) => {
    const socket = connect(Number(port), '127.0.0.1').pause();
    // The service disconnects clients that do not read.
    socket.on('error', () => undefined);
    // One client alone could use only half of the memory for responses.
    const forwarded = `X-Forwarded-For: 192.0.2.${n}\r\n`;
    socket.write(`GET /v1/posts?limit=100 HTTP/1.1\r\nHost: x\r\n${forwarded}\r\n`);
    return socket;
  });
  const over = new AbortController();
  const repeat = async (count: number, query: (n: number) => string) => {
    for (let n = 0; n < count && !over.signal.aborted; n++) {
      await (await post(`${server.url}/graphql`, { query: query(n) })).arrayBuffer();
    }
  };
  const others = [
    // Too much, which is known before the texts are loaded; and just below the limit.
    repeat(Infinity, () => FIELDS('posts { content }')),
    repeat(Infinity, () => FIELDS('posts(limit: 1) { content }')),
    repeat(DOCUMENTS, (n) => `{ users { id } } #${n} ${'x'.repeat(60_000)}`),
  ];

  let [most, slowest] = [atStart, 0];
  for (const end = Date.now() + Number(values.seconds) * 1000; Date.now() < end; await sleep(10)) {
    const start = performance.now();
    await (await fetch(`${server.url}/health`)).arrayBuffer();
    slowest = Math.max(slowest, performance.now() - start);
    most = Math.max(most, resident());
  }
  over.abort();
  await Promise.all(others);
  for (const socket of sockets) socket.destroy();
  rows.push([store, `${atStart.toFixed(0)} MB`, `${most.toFixed(0)} MB`, `${slowest.toFixed(0)} ms`]);
  await server.stop();
}

/** In a process of its own, whose memory does not count. */
async function createPosts(environment: Readonly<Record<string, string>>): Promise<void> {
  const server = await Server.service(environment);
  for (let n = 0; n < POSTS; n++) {
    const response = await post(`${server.url}/v1/posts`, { title: `Post ${n}`, content: CONTENT });
    if (response.status !== 201)
      throw new Error(`A creation got ${response.status}: ${await response.text()}`);
  }
  await server.stop();
}

function post(url: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}
