/**
 * Kills the service with SIGKILL under write load, repeatedly, and then checks its data: every acknowledged write is
 * stored, and nothing that was not requested; every refresh token is either still valid or has exactly one successor;
 * every stub that is sent again with its key exists once; every registered account gets its mail; every change has
 * its event, and every event is delivered.
 *
 *     npm run test:crash [-- --rounds 10]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { createStore, STORES, type StoreName } from '../support/stores.ts';
import { Events } from './events.ts';
import { KeyedWrites } from './keyed-writes.ts';
import { type Load, send } from './load.ts';
import { Mails } from './mails.ts';
import { Rotations } from './rotations.ts';
import { Webhooks } from './webhooks.ts';

const WRITERS = 16;

/** How long to wait, in milliseconds, until one write of each kind has been acknowledged. */
const TIMEOUT = 20_000;

/**
 * The possible states of a dummy after a crash: the last acknowledged text or that of the request in flight, or
 * `deleted`.
 */
interface Expectation {
  acknowledged: string;
  inFlight?: string | undefined;
}

const JSON_TYPE = { 'content-type': 'application/json' };

const { values } = parseCommandLine('Usage: npm run test:crash [-- --rounds 10]', {
  options: { rounds: { type: 'string', default: '10' } },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1');

const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
try {
  for (const store of STORES) await crashRepeatedly(store);
} finally {
  await postgres.stop();
}

async function crashRepeatedly(store: StoreName): Promise<void> {
  const { environment, ...testStore } = await createStore(store);
  const mails = await Mails.start();
  const settings = { ...environment, ...mails.settings, LOG_LEVEL: 'info' };
  const dummies = new Map<number, Expectation>();
  let service = await Service.withFixture(settings);
  const rotations = new Rotations(environment);
  await rotations.start(service);
  const keyedWrites = new KeyedWrites();
  const events = new Events();
  const webhooks = await Webhooks.start(service, environment);

  for (let round = 1; round <= rounds; round++) {
    const before = dummies.size;
    const load = { service, dummies, killed: false };
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(load, `${round}.${writer}`));
    writers.push(rotations.run(load), keyedWrites.run(load), mails.run(load));
    await sleep(300 + Math.random() * 700);
    // On a slow disk, there may be no acknowledged write of some kind yet.
    const isEnough = () =>
      dummies.size - before >= WRITERS &&
      rotations.acknowledged > 0 &&
      keyedWrites.acknowledged > 0 &&
      mails.acknowledged > 0;
    for (let waited = 0; !isEnough() && waited < TIMEOUT; waited += 50) await sleep(50);
    load.killed = true;
    await service.end('SIGKILL');
    await Promise.all(writers);
    const sentBefore = mails.arrived;
    const written = dummies.size - before;
    if (written < WRITERS) throw new Error(`Only ${written} dummies were acknowledged`);

    service = await Service.withFixture(settings);
    await verify(service, dummies);
    await events.verify(service, dummies);
    await webhooks.verify(events.ids);
    const rotated = await rotations.verify(service);
    if (rotated === 0) throw new Error('No refresh was acknowledged');
    const { acknowledged, unacknowledged, replayed } = await keyedWrites.verify(service);
    if (acknowledged === 0) throw new Error('No write with a key was acknowledged');
    const registered = await mails.verify(sentBefore);
    if (registered.acknowledged === 0) throw new Error('No registration was acknowledged');
    console.log(
      `${store}: round ${round} of ${rounds}, ${written} dummies written, all stored; ${rotated} tokens rotated, each has one successor; ${acknowledged} writes with a key acknowledged, and of ${unacknowledged} others ${replayed} had been created; ${registered.acknowledged} accounts, all got their mail, ${registered.sentBefore} of them before the kill`,
    );
  }
  await service.end();
  await mails.stop();
  await webhooks.stop();
  await testStore.remove();
}

interface DummyLoad extends Load {
  readonly dummies: Map<number, Expectation>;
}

/** Creates, changes and deletes its own dummies, one request at a time, until the service is killed. */
async function write(load: DummyLoad, writer: string): Promise<void> {
  const { dummies } = load;
  for (let n = 0; ; n++) {
    const text = `${writer}.${n}`;
    const created = await send(load, 201, '/v1/dummies', {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ text }),
    });
    if (created === 'killed') return;
    const { id } = JSON.parse(created).data;
    if (dummies.has(id)) throw new Error(`The id ${id} was assigned twice`);
    const dummy: Expectation = { acknowledged: text };
    dummies.set(id, dummy);

    for (const change of n % 4 === 3 ? [`${text} changed`, 'deleted'] : [`${text} changed`]) {
      dummy.inFlight = change;
      const received =
        change === 'deleted'
          ? await send(load, 204, `/v1/dummies/${id}`, { method: 'DELETE' })
          : await send(load, 200, `/v1/dummies/${id}`, {
              method: 'PATCH',
              headers: JSON_TYPE,
              body: JSON.stringify({ text: change }),
            });
      if (received === 'killed') return;
      dummy.acknowledged = change;
      dummy.inFlight = undefined;
    }
  }
}

async function verify(service: Service, dummies: Map<number, Expectation>): Promise<void> {
  let stored = 0;
  for (const [id, dummy] of dummies) {
    const reply = await service.fetch(`/v1/dummies/${id}`);
    const found =
      reply.status === 404 ? 'deleted' : ((await reply.json()) as { data: { text: string } }).data.text;
    if (found !== dummy.acknowledged && found !== dummy.inFlight) {
      throw new Error(`Dummy ${id} is ${found}, but ${JSON.stringify(dummy)} was expected`);
    }
    dummy.acknowledged = found;
    dummy.inFlight = undefined;
    if (found !== 'deleted') stored++;
  }

  // A create in flight may have been stored: at most one for each writer and round.
  const list = (await (await service.fetch('/v1/dummies')).json()) as { meta: { total: number } };
  const unacknowledged = list.meta.total - stored;
  if (unacknowledged < 0 || unacknowledged > WRITERS * rounds) {
    throw new Error(`The list counts ${list.meta.total} dummies, ${stored} were expected`);
  }
}
