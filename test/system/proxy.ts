/**
 * Three replicas on one PostgreSQL behind HAProxy, with the configuration of `deploy/cluster`: restarts under load, a
 * killed replica, and shared state. Part of `npm run test:system`; skipped with a message where HAProxy is not
 * installed (HAPROXY_PATH is its path).
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PARTS } from '../../tools/cluster/parts.ts';
import { freePort } from '../support/free-port.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { createStore } from '../support/stores.ts';
import { until } from '../support/until.ts';

const CLIENTS = 12;
/** Not the address of the proxy, which the replicas trust. */
const CLIENT_ADDRESS = '127.0.0.2';
const PASSWORD = 'correct horse battery';

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: any;
}

const program = PARTS.haproxy;
if (!existsSync(program)) {
  console.log('SKIPPED: a proxy, because HAProxy is not installed here (set HAPROXY_PATH)');
  process.exit(0);
}

const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
const store = await createStore('PostgreSQL');
const faults: string[] = [];
const expect = (what: string, isMet: boolean) => {
  if (!isMet) faults.push(what);
};
const ports = [await freePort(), await freePort(), await freePort()];
const metricsPorts = [await freePort(), await freePort(), await freePort()];
const replicas = await Promise.all(ports.keys().map(startReplica));
const port = await freePort();
const proxy = spawn(program, ['-db', '-q', '-f', 'deploy/cluster/haproxy.cfg'], {
  env: {
    PROXY_BIND: `127.0.0.1:${port}`,
    ...Object.fromEntries(ports.map((each, n) => [`REPLICA_${n + 1}`, `127.0.0.1:${each}`])),
  },
  stdio: 'ignore',
});
try {
  await until(
    'the proxy responds',
    async () => (await send('GET', '/health').catch(() => undefined))?.status === 200,
  );
  await restartInTurn();
  await killOne();
  await checkSharedState();
} finally {
  proxy.kill('SIGKILL');
  await Promise.all(replicas.map((replica) => replica.end()));
  await store.remove();
  await postgres.stop();
}
for (const fault of faults) console.log(`  Failed: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

function startReplica(n: number): Promise<Service> {
  return Service.withFixture({
    ...store.environment,
    PORT: String(ports[n]),
    METRICS_PORT: String(metricsPorts[n]),
    TRUST_PROXY: '127.0.0.1',
    DRAIN_DELAY_MS: '1000',
    JWT_SECRET: 'a secret that all of the replicas share',
  });
}

/** Sends requests until a replica that has started has served one. Each of them has to be served. */
function untilServing(n: number): Promise<void> {
  return until(`replica ${n + 1} serves requests`, async () => {
    const reply = await send('GET', '/v1/dummies').catch((error: Error) => error);
    const result = reply instanceof Error ? reply.message : reply.status;
    expect(`a request is served while replica ${n + 1} starts, not ${result}`, result === 200);
    const metrics = await fetch(`http://127.0.0.1:${metricsPorts[n]}/metrics`);
    return (await metrics.text()).includes('http_route="/v1/dummies"');
  });
}

/** No request fails, whichever replica stops. */
async function restartInTurn(): Promise<void> {
  const load = startLoad();
  for (const [n, replica] of replicas.entries()) {
    await replica.end();
    replicas[n] = await startReplica(n);
    await untilServing(n);
  }
  const { served, failures } = await load.end();
  console.log(`Restarts in turn: ${served} requests served, ${failures.length} failed`);
  expect(`no request fails during restarts, not ${failures.slice(0, 3).join(', ')}`, failures.length === 0);
}

/** Only requests in flight at the killed replica fail, and no acknowledged write is lost. */
async function killOne(): Promise<void> {
  const load = startLoad();
  await until('many writes are acknowledged', () => load.acknowledged.length >= 200);
  await replicas[0]!.end('SIGKILL');
  // The proxy needs this time to notice that the replica is gone.
  await sleep(2000);
  const { served, failures } = await load.end();
  console.log(`A replica killed: ${served} requests served, ${failures.length} failed`);
  expect(`only requests in flight fail, not ${failures.length}`, failures.length <= CLIENTS);
  for (const path of load.acknowledged)
    expect(`${path} was acknowledged`, (await send('GET', path)).status === 200);
  replicas[0] = await startReplica(0);
  await untilServing(0);
}

/** Sessions, idempotency, the login throttle, and the client's address. */
async function checkSharedState(): Promise<void> {
  const account = { email: 'ada@example.com', password: PASSWORD, name: 'Ada' };
  expect('an account registers', (await send('POST', '/auth/register/', account)).status === 201);
  const { headers } = await send('POST', '/auth/session/', account);
  const cookie = String(headers['set-cookie']).split(';')[0]!;
  for (const own of ports) {
    const { status, body } = await send('GET', '/auth/sessions/', undefined, { cookie }, own);
    expect(`replica ${own} accepts the session`, status === 200);
    expect('the address is that of the client', body?.data?.[0]?.address === CLIENT_ADDRESS);
  }

  const key = { 'idempotency-key': randomUUID() };
  const replies = await Promise.all(
    ports.map((own) => send('POST', '/v1/dummies', { text: 'Ada' }, key, own)),
  );
  const ids = replies.filter(({ status }) => status === 201).map(({ body }) => body.data.id);
  expect('one dummy for one key', new Set(ids).size === 1);
  expect(
    'the other requests get the same response, or 409 while it is in progress',
    replies.every(({ status }) => status === 201 || status === 409),
  );

  const wrong = { email: account.email, password: 'a wrong password' };
  const forged = () => ({ 'x-forwarded-for': `198.51.100.${Math.floor(Math.random() * 256)}` });
  const statuses: number[] = [];
  for (let n = 0; n <= 20; n++) statuses.push((await send('POST', '/auth/login/', wrong, forged())).status);
  expect(`logins are throttled over all replicas: ${statuses.join()}`, statuses.indexOf(429) === 20);
  const direct = await send('POST', '/auth/login/', wrong, forged(), ports[1]);
  expect('a forwarded address that the client sends directly is ignored', direct.status === 429);
  console.log('Checked on all replicas: sessions, idempotency, the login throttle, client addresses');
}

function startLoad() {
  const failures: string[] = [];
  const acknowledged: string[] = [];
  let served = 0;
  const stop = new AbortController();
  const client = async (n: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!stop.signal.aborted) {
      const [method, path, body] =
        n % 2
          ? (['GET', '/v1/dummies', undefined] as const)
          : (['POST', '/v1/dummies', { text: 'T' }] as const);
      const reply = await send(method, path, body, {}, port, agent).catch((error: Error) => error);
      if (reply instanceof Error) failures.push(reply.message);
      else if (reply.status >= 300) failures.push(String(reply.status));
      else served++;
      if (!(reply instanceof Error) && reply.status === 201)
        acknowledged.push(String(reply.headers.location));
    }
    agent.destroy();
  };
  const clients = Array.from({ length: CLIENTS }, (_, n) => client(n));
  const end = async () => {
    stop.abort();
    await Promise.all(clients);
    return { served, failures };
  };
  return { acknowledged, end };
}

function send(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
  to = port,
  agent?: Agent,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = { method, path, port: to, host: '127.0.0.1', localAddress: CLIENT_ADDRESS };
    const sent = request(
      {
        ...options,
        ...(agent && { agent }),
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      },
      (response) => {
        text(response).then(
          (json) => resolve({ status: response.statusCode!, headers: response.headers, body: parse(json) }),
          reject,
        );
      },
    );
    sent.once('error', reject).end(body && JSON.stringify(body));
  });
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
