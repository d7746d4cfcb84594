import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createApp } from '../src/app.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import {
  EventLog,
  Changes,
  EventStore,
  OnDurableEvent,
  type StoredEvent,
} from '../src/platform/changes/index.js';
import { SubscriberPositions } from '../src/platform/changes/subscribers/subscriber-positions.js';
import { Subscription } from '../src/platform/changes/subscribers/subscription.js';
import { pollOften, startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { DummiesService } from './support/fixture/dummies.service.js';
import { onEach } from './support/on-each.js';
import { createStore, STORES, type TestStore } from './support/stores.js';
import { migrate } from '../src/platform/database/migrate.js';
import { until } from './support/until.js';

/** The events that the subscribers of all applications in this file have received. */
let handled: { app: object; text: string }[] = [];
let inProcess: string[] = [];
let failing: string | undefined;
let attempts = 0;
let running = 0;
let hasOverlapped = false;
/** The texts of the dummies whose creation the subscriber that never fails has received. */
const healthy: string[] = [];

@Injectable()
class DummyWatcher {
  @OnDurableEvent({ name: 'dummy-watcher', types: ['dummy.created'] })
  async watch(event: StoredEvent): Promise<void> {
    running++;
    if (running > 1) hasOverlapped = true;
    await sleep(1);
    running--;
    const { text } = event.data as { text: string };
    if (text === failing) {
      attempts++;
      throw new Error('Not now');
    }
    handled.push({ app: this, text });
  }

  @OnDurableEvent({ name: 'healthy', types: ['dummy.created', 'dummy.deleted'] })
  go({ data }: StoredEvent): void {
    healthy.push((data as { text: string }).text);
  }

  @OnEvent('dummy.*')
  see({ type, subject }: { type: string; subject: string }): void {
    inProcess.push(`${type} ${subject}`);
  }

  @OnEvent('dummy.created')
  fail(): void {
    throw new Error('A listener that fails changes nothing');
  }
}

@Module({ providers: [DummyWatcher] })
class WatchModule {}

const texts = () => handled.map(({ text }) => text);

afterEach(() => {
  handled = [];
  inProcess = [];
  healthy.length = 0;
});

onEach('subscribers', { modules: [FixtureModule, WatchModule] }, ({ api, store }) => {
  beforeAll(async () => {
    pollOften(api);
  });

  it('receive each event of their types, in order', async () => {
    const expected = Array.from({ length: 30 }, (_, n) => `Text ${n}`);
    for (const text of expected) await api.dummies.create({ text });
    await api.patch('/v1/dummies/1', { counter: 1 });

    await until('all are handled', () => handled.length >= 30);
    expect(texts()).toEqual(expected);
  });

  it('are retried in order until they succeed, without delaying other subscribers', async () => {
    attempts = 0;
    failing = 'Second';
    for (const text of ['First', 'Second', 'Third']) await api.dummies.create({ text });
    await until('it has failed', () => attempts > 0);
    await until('another one continues', () => healthy.includes('Third'));
    expect(texts()).toEqual(['First']);

    failing = undefined;
    await until('all are handled', () => handled.length >= 3);
    expect(texts()).toEqual(['First', 'Second', 'Third']);
  });

  it('in the process receive a change after its commit, and nothing that was rolled back', async () => {
    const dummies = api.app.get(DummiesService, { strict: false });
    let duringTransaction = -1;
    const { id } = await api.rows.run(async () => {
      const dummy = await dummies.create({ text: 'A' });
      duringTransaction = inProcess.length;
      return dummy;
    });
    await api.rows
      .run(async () => {
        await dummies.create({ text: 'C' });
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await api.patch(`/v1/dummies/${id}`, { status: 'done' });
    await api.delete(`/v1/dummies/${id}`);

    expect(duringTransaction).toBe(0);
    const types = ['created', 'updated', 'deleted'];
    await until('all have arrived', () => inProcess.length >= 3);
    expect(inProcess).toEqual(types.map((type) => `dummy.${type} /v1/dummies/${id}`));
  });

  it('skip events that another process has handled between the read and the claim', async () => {
    await api.dummies.create();
    const [log, events, positions] = [
      api.app.get(EventLog, { strict: false }),
      api.app.get(EventStore, { strict: false }),
      api.app.get(SubscriberPositions, { strict: false }),
    ];
    const start = await log.catchUp();
    await positions.add('late', start);
    for (let n = 0; n < 3; n++) await api.dummies.create();
    await log.catchUp();
    const seen: number[] = [];
    let isFirst = true;
    const read: EventStore['read'] = async (...query) => {
      const rows = await events.read(...query);
      if (!isFirst) return rows;
      isFirst = false;
      await positions.claim('late', 'another');
      await positions.advance('late', 'another', start + 2);
      await positions.release('late', 'another');
      return rows;
    };
    const subscription = new Subscription(
      {
        name: 'late',
        process: async (batch, advance) => {
          seen.push(...batch.map(({ position }) => position));
          await advance(batch.at(-1)!.position);
        },
      },
      {
        tasks: { add: () => undefined },
        log,
        store: { read, state: () => events.state() },
        positions,
        logger: new Logger(),
      },
    );
    subscription.start();
    await until('it has handled some', () => seen.length > 0);
    await subscription.stop();

    expect(seen).toEqual([start + 3]);
  });

  it('never move their position backwards', async () => {
    const positions = api.app.get(SubscriberPositions, { strict: false });
    await positions.add('forward', 7);
    await positions.claim('forward', 'one');
    expect(await positions.advance('forward', 'one', 6)).toBe(false);
    expect(await positions.claim('forward', 'one')).toBe(7);
    expect(await positions.advance('forward', 'one', 8)).toBe(true);
    await positions.skip('forward', 7);
    expect(await positions.claim('forward', 'one')).toBe(8);
    await positions.skip('forward', 9);
    expect(await positions.claim('forward', 'one')).toBe(9);
  });

  it('are taken over when the lease of a killed process expires', async () => {
    const positions = api.app.get(SubscriberPositions, { strict: false });
    await positions.add('taken over', 1);
    await positions.claim('taken over', 'killed');
    expect(await positions.claim('taken over', 'other')).toBeUndefined();
    api.moveClock(31_000);
    expect(await positions.claim('taken over', 'other')).toBe(1);
    api.moveClock(0);
  });

  it('are named in a warning when a purge deletes events that they have not handled', async () => {
    const own = await startApi(store, {}, [FixtureModule, WatchModule]);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    attempts = 0;
    failing = 'Lost';
    await own.dummies.create({ text: 'Lost' });
    await own.patch('/v1/dummies/1', { counter: 1 });
    await until('it has failed', () => attempts > 0);
    await until('another one has handled it', async () => {
      const positions = await own.app.get(SubscriberPositions, { strict: false }).all();
      const of = (name: string) => positions.find((row) => row.name === name)!.position;
      return of('healthy') > of('dummy-watcher');
    });

    own.moveClock(8 * 24 * 3600_000);
    await own.app.get(Purger).purge();

    const lost = warn.mock.calls
      .map(([entry]) => entry as { msg: string; name: string; events: number })
      .filter(({ msg }) => msg === 'A subscriber has lost events that were purged');
    warn.mockRestore();
    failing = undefined;
    await own.stop();
    expect(lost.find(({ name }) => name === 'dummy-watcher')).toMatchObject({ events: 1 });
    expect(lost.map(({ name }) => name)).not.toContain('healthy');
  });

  it('reject an event that is recorded outside of a transaction', async () => {
    const event = { type: 'x', subject: '/x', data: {}, isPrivate: false, ownerId: null };
    await expect(api.app.get(Changes).record(event)).rejects.toThrow('Transactions.run');
  });

  it('continue at their position after a restart', async () => {
    await api.dummies.create({ text: 'Before' });
    await until('it is handled', () => texts().includes('Before'));
    const { config } = api;
    await api.app.close();
    // This application has no subscriber.
    const without = await createApp(config, { modules: [FixtureModule] });
    await without.get(DummiesService, { strict: false }).create({ text: 'Meanwhile' });
    await without.close();
    handled = [];

    const again = await createApp(config, { modules: [FixtureModule, WatchModule] });
    await until('it is handled', () => handled.length > 0);
    expect(texts()).toEqual(['Meanwhile']);
    await again.close();
    api = await startApi(store);
  });
});

describe('on two replicas', () => {
  let store: TestStore;
  const apps: NestFastifyApplication[] = [];
  beforeAll(async () => {
    store = await createStore('PostgreSQL');
    const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...store.environment });
    for (let n = 0; n < 2; n++) apps.push(await createApp(config, { modules: [FixtureModule, WatchModule] }));
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
    await store.remove();
  });

  it('a subscriber runs on one replica at a time, and the other takes over when that one stops', async () => {
    hasOverlapped = false;
    const create = (app: NestFastifyApplication, text: string) =>
      app.get(DummiesService, { strict: false }).create({ text });
    for (let n = 0; n < 20; n++) await create(apps[n % 2]!, `Text ${n}`);
    await until('all are handled', () => handled.length >= 20);
    const watchers = apps.map((app) => app.get(DummyWatcher, { strict: false }));
    const first = apps.splice(watchers.indexOf(handled.at(-1)!.app as DummyWatcher), 1)[0]!;
    await first.close();

    await create(apps[0]!, 'The last');
    await until('the other takes over', () => texts().includes('The last'));
    expect(texts()).toEqual([...Array.from({ length: 20 }, (_, n) => `Text ${n}`), 'The last']);
    expect(hasOverlapped).toBe(false);
  });
});

it.each(STORES)(
  'subscribers on %s start when the migrations run after the process has started',
  async (store) => {
    const api = await startApi(store, { MIGRATE: 'off' }, [WatchModule]);
    expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE');
    await migrate(api.config);
    pollOften(api);

    const registered = () =>
      api.rows
        .all<{ name: string }>(`SELECT name FROM event_subscribers WHERE name = 'dummy-watcher'`)
        .catch(() => []);
    await until('they have started', async () => (await registered()).length === 1);
    expect(await api.get('/health/ready')).toHaveStatus(200);
    await api.stop();
  },
);
