/**
 * Stops the service repeatedly under load, and counts the responses and the requests that fail.
 *
 *     npm run test:system [-- --rounds 50]
 */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { createStore, STORES, type StoreName } from '../support/stores.ts';

const CLIENTS = 12;

const { values } = parseCommandLine('Usage: npm run test:system [-- --rounds 50]', {
  options: { rounds: { type: 'string', default: '50' } },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1');

interface Outcome {
  served: number;
  readonly failures: string[];
}

const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
let failed = false;
try {
  for (const store of STORES) {
    const { served, failures } = await stopRepeatedly(store);
    console.log(`${store}: ${rounds} drains, ${served} requests served, ${failures.length} failed`);
    for (const failure of new Set(failures)) console.log(`  ${failure}`);
    failed ||= failures.length > 0;
  }
} finally {
  await postgres.stop();
}
process.exit(failed ? 1 : 0);

async function stopRepeatedly(store: StoreName): Promise<Outcome> {
  const testStore = await createStore(store);
  const outcome: Outcome = { served: 0, failures: [] };
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`\r\x1b[2K${store}: drain ${round} of ${rounds}`);
    const service = await Service.withFixture({ ...testStore.environment, DRAIN_DELAY_MS: '200' });
    const clients = Array.from({ length: CLIENTS }, () => sendRequests(service.url, outcome));
    await sleep(300);
    await service.end();
    await Promise.all(clients);
  }
  process.stderr.write('\r\x1b[2K');
  await testStore.remove();
  return outcome;
}

/** Sends one request after the other on a keep-alive connection, until the server stops listening. */
async function sendRequests(url: string, outcome: Outcome): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) {
    const result = await send(`${url}/v1/dummies`, agent);
    if (result === 'ECONNREFUSED') return agent.destroy();
    if (result === 200) outcome.served++;
    else outcome.failures.push(String(result));
  }
}

function send(url: string, agent: Agent): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
      response.once('error', ({ message }) => resolve(message));
    });
    request.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
  });
}
