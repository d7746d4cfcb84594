/**
 * Measures event streams under load: the time from the commit to the consumers, the memory of the streams,
 * and the reads that remain possible. Rounds with and without streams alternate, to even out changes of the machine.
 *
 *     npm run bench:events [-- --streams 1000 --changes 200 --seconds 10 --rounds 3 --store PostgreSQL]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import { EventClient } from '../../test/support/events-client.ts';
import type { StoreName } from '../../test/support/stores.ts';
import { type Environment, onEachStore } from '../support/databases.ts';
import { load } from '../support/load.ts';
import { Server } from '../support/server.ts';
import { quantile, spread, table } from '../support/statistics.ts';

/** Streams whose events are parsed; the others are only read, because this process also needs processor time. */
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

/** The number of changes so far, which makes titles unique. */
let count = 0;

await onEachStore(values.store, measure);

async function measure(store: StoreName, environment: Environment): Promise<void> {
  const service = await Server.service(environment);
  // Another replica makes half of the changes.
  const other = store === 'PostgreSQL' ? await Server.service(environment) : undefined;
  await create(service.url, 'The post that is read');

  const reads: { with: Reads[]; without: Reads[] } = { with: [], without: [] };
  const latencies: { own: number[]; other: number[] } = { own: [], other: [] };
  const memory: number[] = [];
  const achieved: number[] = [];
  /** Processor time of the streams, in seconds per second. */
  const cost: number[] = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${store}: round ${round + 1} of ${rounds}\n`);
    reads.without.push(await measureReads(service));
    const withoutStreams = service.cpuSeconds();
    await writeFor(service.url, new Map(), seconds * 1000);
    const spentWithout = service.cpuSeconds() - withoutStreams;

    const arrivals = new Map<string, number[]>();
    const measureStream = () =>
      EventClient.open(`${service.url}/v1/events/stream`, {
        onEvent: ({ data }) => {
          const { title } = data.data as { title: string };
          arrivals.set(title, [...(arrivals.get(title) ?? []), performance.now()]);
        },
      });
    // Streams are written in the order in which they were opened, so half of these are the first and half the last.
    const half = Array.from({ length: MEASURED / 2 });
    const clients = await Promise.all(half.map(measureStream));
    const consumers = await openStreams(service.url, streams - MEASURED);
    clients.push(...(await Promise.all(half.map(measureStream))));
    for (const [name, writer] of [
      ['own', service],
      ['other', other],
    ] as const) {
      if (!writer) continue;
      const commits = new Map<string, number>();
      const start = Date.now();
      const spentBefore = service.cpuSeconds();
      // Without reads, because the queue of the load generator would be measured.
      await writeFor(writer.url, commits, seconds * 1000);
      achieved.push(commits.size / ((Date.now() - start) / 1000));
      if (writer === service) cost.push((service.cpuSeconds() - spentBefore - spentWithout) / seconds);
      await sleep(1000);
      for (const [title, committed] of commits) {
        for (const arrived of arrivals.get(title) ?? [])
          latencies[name].push(Math.max(0, arrived - committed));
        if (arrivals.get(title)?.length !== MEASURED) throw new Error(`${title} came to few streams`);
      }
    }
    reads.with.push(await measureReads(service));
    memory.push(residentMemory(service));
    if (consumers.exitCode !== null) throw new Error('The service has disconnected a stream');
    consumers.kill();
    for (const client of clients) client.close();
    await sleep(1000);
  }
  reads.without.push(await measureReads(service));

  // The speed of the machine changes, so each measurement is compared with the ones before and after it.
  const ratioOf = (figure: keyof Reads): string =>
    spread(
      reads.with.map((measured, n) => {
        const [before, after] = reads.without.slice(n, n + 2) as [Reads, Reads];
        return measured[figure] / ((before[figure] + after[figure]) / 2);
      }),
    ).median.toFixed(2);
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
    ['processor time of the streams, per second', `${(spread(cost).median * 1000).toFixed(0)} ms`, ''],
    ['one post per CPU second, with / without', ratioOf('perCpuSecond'), '≥ 0.80'],
    ['one post per second, with / without', ratioOf('perSecond'), ''],
    ['memory after each round', memory.map((bytes) => `${Math.round(bytes / 1e6)} MB`).join(', '), 'flat'],
  ];
  console.log(`\n${store}, ${streams} streams\n`);
  console.log(table(['', 'measured', 'goal'], rows));
  await service.stop();
  await other?.stop();
}

/** Reads of one post while there are changes. */
interface Reads {
  readonly perSecond: number;
  /** For each second of processor time of the service: clients and consumers take the rest of the machine. */
  readonly perCpuSecond: number;
}

async function measureReads(service: Server): Promise<Reads> {
  const before = service.cpuSeconds();
  const reading = load(service.url, { name: 'one post', path: () => '/v1/posts/1' }, seconds);
  const [perSecond] = await Promise.all([reading, writeFor(service.url, new Map(), seconds * 1000)]);
  return { perSecond, perCpuSecond: (perSecond * seconds) / (service.cpuSeconds() - before) };
}

/** Creates posts at the requested rate. @param commits the time of each response, by title */
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

/** @returns the time of the response */
async function create(url: string, title: string): Promise<number> {
  const reply = await fetch(`${url}/v1/posts`, {
    method: 'POST',
    body: JSON.stringify({ title, content: 'Some words of a content. '.repeat(20) }),
  });
  if (reply.status !== 201) throw new Error(`A change got ${reply.status}`);
  await reply.arrayBuffer();
  return performance.now();
}

/** Streams that are read and not parsed. */
async function openStreams(url: string, amount: number): Promise<ChildProcess> {
  const script = ['--no-warnings', 'bench/support/events-consumers.ts', url, String(amount)];
  const child = spawn(process.execPath, script, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The streams could not be opened')));
  ended.catch(() => undefined);
  await Promise.race([once(child.stdout, 'data'), ended]);
  return child;
}

function residentMemory({ process: { pid } }: Server): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}
