/**
 * Streams of events under load: how long an event takes from its commit to its consumers, how much memory the streams
 * take, and what is left for reads. Rounds with streams and without alternate, so that a mood of the machine meets both.
 *
 *     npm run bench:events [-- --streams 1000 --changes 200 --seconds 10 --rounds 3 --store PostgreSQL]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { EventClient } from '../test/support/event-client.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import { createStore, STORES, type StoreName } from '../test/support/stores.ts';
import { load } from './support/load.ts';
import { Server } from './support/server.ts';
import { quantile, spread, table } from './support/statistics.ts';

/** Streams that are read event by event; the others are only emptied, as this process needs a processor, too. */
const MEASURED = 10;

const { values } = parseCommandLine(
  'Usage: npm run bench:events [-- --streams 1000 --changes 200 --seconds 10 --rounds 3 --store PostgreSQL]',
  {
    options: {
      streams: { type: 'string', default: '1000' },
      changes: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
      store: { type: 'string' },
    },
  },
);
const [streams, changes, seconds, rounds] = [
  values.streams,
  values.changes,
  values.seconds,
  values.rounds,
].map(Number) as [number, number, number, number];

/** Changes so far, so that each has a title of its own. */
let count = 0;

const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
try {
  for (const store of STORES) if (!values.store || values.store === store) await measure(store);
} finally {
  await postgres.stop();
}

async function measure(store: StoreName): Promise<void> {
  const { environment, ...testStore } = await createStore(store);
  const service = await Server.start('dist/main.js', environment);
  // Another replica makes half of the changes.
  const other = store === 'PostgreSQL' ? await Server.start('dist/main.js', environment) : undefined;
  await create(service.url, 'The post that is read');

  const reads: { with: number[]; without: number[] } = { with: [], without: [] };
  const latencies: { own: number[]; other: number[] } = { own: [], other: [] };
  const memory: number[] = [];
  const achieved: number[] = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${store}: round ${round + 1} of ${rounds}\n`);
    reads.without.push(await readRate(service.url, service.url, new Map()));

    const consumers = await openStreams(service.url, streams - MEASURED);
    const arrivals = new Map<string, number[]>();
    const clients = await Promise.all(
      Array.from({ length: MEASURED }, () =>
        EventClient.open(`${service.url}/v1/events/stream`, {
          onEvent: ({ data }) => {
            const { title } = data.data as { title: string };
            arrivals.set(title, [...(arrivals.get(title) ?? []), performance.now()]);
          },
        }),
      ),
    );
    for (const [name, writer] of [
      ['own', service],
      ['other', other],
    ] as const) {
      if (!writer) continue;
      const commits = new Map<string, number>();
      const start = Date.now();
      // Without reads, which would be what is waited for.
      await writeFor(writer.url, commits, seconds * 1000);
      achieved.push(commits.size / ((Date.now() - start) / 1000));
      await sleep(1000);
      for (const [title, committed] of commits) {
        for (const arrived of arrivals.get(title) ?? [])
          latencies[name].push(Math.max(0, arrived - committed));
        if (arrivals.get(title)?.length !== MEASURED) throw new Error(`${title} came to few streams`);
      }
    }
    reads.with.push(await readRate(service.url, service.url, new Map()));
    memory.push(residentMemory(service));
    consumers.kill();
    for (const client of clients) client.close();
    await sleep(1000);
  }

  const ratios = reads.with.map((rate, n) => rate / reads.without[n]!);
  const rows = [
    ['changes per second', spread(achieved).median.toFixed(0), String(changes)],
    ['commit to consumer, p50', `${quantile(latencies.own, 0.5).toFixed(0)} ms`, ''],
    ['commit to consumer, p99', `${quantile(latencies.own, 0.99).toFixed(0)} ms`, '< 100 ms'],
    ...(latencies.other.length > 0
      ? [
          ['from another replica, p50', `${quantile(latencies.other, 0.5).toFixed(0)} ms`, ''],
          ['from another replica, p99', `${quantile(latencies.other, 0.99).toFixed(0)} ms`, '< 500 ms'],
        ]
      : []),
    ['one post, with streams / without', spread(ratios).median.toFixed(2), '≥ 0.80'],
    ['memory after each round', memory.map((bytes) => `${Math.round(bytes / 1e6)} MB`).join(', '), 'flat'],
  ];
  console.log(`\n${store}, ${streams} streams\n`);
  console.log(table(['', 'measured', 'goal'], rows));
  await service.stop();
  await other?.stop();
  await testStore.remove();
}

/** Reads of one post per second, while there are changes. */
async function readRate(url: string, writer: string, commits: Map<string, number>): Promise<number> {
  const reading = load(url, { name: 'one post', path: () => '/v1/posts/1' }, seconds);
  const [rate] = await Promise.all([reading, writeFor(writer, commits, seconds * 1000)]);
  return rate;
}

/** Creates posts at the rate that is asked for. @param commits when each was acknowledged, by its title */
async function writeFor(url: string, commits: Map<string, number>, milliseconds: number): Promise<void> {
  const start = performance.now();
  const writes: Promise<void>[] = [];
  for (let n = 0; performance.now() - start < milliseconds; n++) {
    const title = `Change ${count++}`;
    writes.push(create(url, title).then((at) => void commits.set(title, at)));
    const due = start + ((n + 1) * 1000) / changes;
    const wait = due - performance.now();
    if (wait > 1) await sleep(wait);
  }
  await Promise.all(writes);
}

/** @returns when it was acknowledged */
async function create(url: string, title: string): Promise<number> {
  const reply = await fetch(`${url}/v1/posts`, {
    method: 'POST',
    body: JSON.stringify({ title, content: 'Some words of a content. '.repeat(20) }),
  });
  if (reply.status !== 201) throw new Error(`A change got ${reply.status}`);
  await reply.arrayBuffer();
  return performance.now();
}

/** Streams that are emptied and not looked at. */
async function openStreams(url: string, amount: number): Promise<ChildProcess> {
  const script = ['--no-warnings', 'bench/support/consumers.ts', url, String(amount)];
  const child = spawn(process.execPath, script, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

function residentMemory({ process: { pid } }: Server): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}
