/**
 * Measures logins: whether the response time reveals if an e-mail has an account (also for
 * a password reset), and whether the service stays responsive while many log in at once.
 *
 *     npm run bench:login [-- --pairs 300 --seconds 15 --store SQLite]
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import type { StoreName } from '../test/support/stores.ts';
import { type Environment, onEachStore } from './support/databases.ts';
import { Server } from './support/server.ts';
import { quantile, spread, table } from './support/statistics.ts';

const CLIENTS = 200;
const PASSWORD = 'a password to log in with';

interface Compared {
  readonly path: string;
  readonly status: number;
  readonly email: (who: string, pair: number) => string;
  /** After each pair, in milliseconds: background work must not be measured. */
  readonly pause: number;
}

/** Wrong passwords, for the same two e-mails each time. */
const LOGIN: Compared = {
  path: 'login',
  status: 401,
  email: (who) => `${who}@example.com`,
  pause: 0,
};

/** An address gets one mail a minute, so there are as many known addresses as pairs. */
const RESET: Compared = {
  path: 'password/reset',
  status: 202,
  email: (who, pair) => (pair < 0 ? `${who}@example.com` : `${who}${pair}@example.com`),
  pause: 350,
};

const { values } = parseCommandLine(
  'Usage: npm run bench:login [-- --pairs 300 --seconds 15 --store SQLite]',
  {
    options: {
      pairs: { type: 'string', default: '300' },
      seconds: { type: 'string', default: '15' },
      store: { type: 'string' },
    },
  },
);
const pairs = Number(values.pairs);
const seconds = Number(values.seconds);

let calls = 0;
const times: string[][] = [];
const loads: string[][] = [];
await onEachStore(values.store, measure);
console.log(table(['median', 'known e-mail', 'unknown e-mail', 'ratio'], times));
console.log(
  table(
    [
      `${CLIENTS} at once`,
      'logins/s',
      'rejected, 503',
      'health: median, p99, max',
      'resident, MB: idle, peak',
    ],
    loads,
  ),
);
process.exit(0);

async function measure(store: StoreName, environment: Environment): Promise<void> {
  const server = await Server.service({ ...environment, TRUST_PROXY: '127.0.0.1' });
  await send(server, 'register', { email: 'known@example.com', name: 'Known', password: PASSWORD });
  times.push([`login, ${store}`, ...(await compareTimes(server, LOGIN))]);
  for (let pair = 0; pair < pairs; pair++) {
    await send(server, 'register', { email: RESET.email('known', pair), name: 'Known', password: PASSWORD });
  }
  times.push([`password reset, ${store}`, ...(await compareTimes(server, RESET))]);
  loads.push([store, ...(await logInAtOnce(server))]);
  await server.stop();
}

/** Each call has its own address, so that failures are not throttled. */
function send({ url }: Server, path: string, body: object): Promise<Response> {
  const number = calls++;
  return fetch(`${url}/auth/${path}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
    },
    body: JSON.stringify(body),
  });
}

/** Requests for a known and for an unknown e-mail, in random order. */
async function compareTimes(server: Server, { path, status, email, pause }: Compared): Promise<string[]> {
  const taken = { known: [] as number[], unknown: [] as number[] };
  for (let pair = -20; pair < pairs; pair++) {
    // After a pause, the first request takes longer than the next, for either e-mail.
    await (
      await send(server, path, { email: email('first', pair), password: 'a wrong password' })
    ).arrayBuffer();
    for (const who of Math.random() < 0.5
      ? (['known', 'unknown'] as const)
      : (['unknown', 'known'] as const)) {
      const start = performance.now();
      const reply = await send(server, path, { email: email(who, pair), password: 'a wrong password' });
      await reply.arrayBuffer();
      if (reply.status !== status) throw new Error(`Responded with ${reply.status}`);
      if (pair >= 0) taken[who].push(performance.now() - start);
    }
    await sleep(pause);
  }
  const [known, unknown] = [spread(taken.known).median, spread(taken.unknown).median];
  return [`${known.toFixed(2)} ms`, `${unknown.toFixed(2)} ms`, (unknown / known).toFixed(3)];
}

async function logInAtOnce(server: Server): Promise<string[]> {
  const idle = resident(server);
  const end = Date.now() + seconds * 1000;
  let [succeeded, rejected, peak] = [0, 0, idle];
  const client = async (): Promise<void> => {
    while (Date.now() < end) {
      const reply = await send(server, 'login', { email: 'known@example.com', password: PASSWORD });
      await reply.arrayBuffer();
      const retryAfter = Number(reply.headers.get('retry-after'));
      if (reply.status === 200) succeeded++;
      else if (reply.status === 503 && retryAfter > 0) rejected++;
      else throw new Error(`Responded with ${reply.status}, Retry-After ${retryAfter}`);
      if (reply.status !== 200) await sleep(Math.min(retryAfter * 1000, end - Date.now()));
    }
  };
  const waits: number[] = [];
  const probe = async (): Promise<void> => {
    while (Date.now() < end) {
      const start = performance.now();
      await (await fetch(`${server.url}/health`)).arrayBuffer();
      waits.push(performance.now() - start);
      peak = Math.max(peak, resident(server));
      await sleep(10);
    }
  };
  await Promise.all([probe(), ...Array.from({ length: CLIENTS }, client)]);

  const health = [0.5, 0.99, 1].map((share) => `${quantile(waits, share).toFixed(1)} ms`).join(', ');
  return [(succeeded / seconds).toFixed(1), String(rejected), health, `${idle}, ${peak}`];
}

function resident({ process: { pid } }: Server): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1000);
}
