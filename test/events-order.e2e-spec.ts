import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createApp } from '../src/app.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { isOutage } from '../src/platform/database/failures.js';
import { startApi, type TestApi } from './support/api.js';
import { EventClient } from './support/events-client.js';
import { rowsOf } from './support/rows.js';
import { DummiesService } from './support/fixture/dummies.service.js';
import { FixtureModule } from './support/fixture.module.js';
import { createStore, STORES } from './support/stores.js';
import { until } from './support/until.js';

const WRITERS = 50;
const CHANGES = 8;
const CONSUMERS = 6;

/** Writes dummies without pauses; some transactions are slow, and some are rolled back. */
async function write(app: NestFastifyApplication, writer: number, acknowledged: Set<number>): Promise<void> {
  const dummies = app.get(DummiesService, { strict: false });
  for (let n = 0; n < CHANGES; n++) {
    const create = () => dummies.create({ text: `${writer}.${n}` });
    const isRolledBack = (writer + n) % 5 === 0;
    // SQLite has one writer, so a transaction that sleeps blocks all others.
    const delay = (writer + n) % 7 === 0 ? Math.random() * 60 : 0;
    const work = () =>
      rowsOf(app).run(async () => {
        const { id } = await create();
        if (delay > 0) await sleep(delay);
        if (isRolledBack) throw new Error('rolled back');
        return id;
      });
    // On an overloaded machine, some wait too long for a connection, and are retried.
    const retried = (): Promise<number> =>
      work().catch((error: unknown) => (isOutage(error) ? retried() : Promise.reject(error)));
    await retried().then(
      (id) => acknowledged.add(id),
      (error: Error) => {
        if (error.message !== 'rolled back') throw error;
      },
    );
  }
}

/** Follows the stream, and repeatedly reconnects to a random replica. */
async function consume(urls: readonly string[], seen: string[], start: string, isOver: () => boolean) {
  while (!isOver()) {
    const url = urls[Math.floor(Math.random() * urls.length)]!;
    const client = await EventClient.open(`${url}/v1/events/stream`, {
      lastEventId: seen.at(-1) ?? start,
      onEvent: ({ id }) => seen.push(id),
    });
    await sleep(Math.random() * 150);
    client.close();
    // Events that have arrived before the end are still read.
    await until('the connection has ended', () => client.isOver);
  }
}

describe.each(STORES)('The order of events on %s', (store) => {
  it('is the same for all consumers on all replicas, without gaps or repetitions', async () => {
    const { environment, ...testStore } = await createStore(store);
    const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environment });
    const apps: NestFastifyApplication[] = [];
    for (let n = 0; n < (store === 'SQLite' ? 1 : 2); n++) {
      const app = await createApp(config, { modules: [FixtureModule] });
      await app.listen(0, '127.0.0.1');
      apps.push(app);
    }
    const urls = await Promise.all(apps.map((app) => app.getUrl()));
    const acknowledged = new Set<number>();
    await write(apps[0]!, 1, acknowledged);
    const { data } = (await (await fetch(`${urls[0]}/v1/events?limit=1`)).json()) as any;
    const start: string = data[0].id;

    const seen = Array.from({ length: CONSUMERS }, (): string[] => []);
    let expected: string[] | undefined;
    const isOver = (of: string[]) => expected !== undefined && of.length >= expected.length;
    const consuming = seen.map((own) => consume(urls, own, start, () => isOver(own)));
    await Promise.all(
      Array.from({ length: WRITERS }, (_, n) => write(apps[n % apps.length]!, n + 2, acknowledged)),
    );
    const log: any[] = [];
    for (let cursor = start, isMore = true; isMore;) {
      const page = (await (await fetch(`${urls.at(-1)}/v1/events?limit=100&cursor=${cursor}`)).json()) as any;
      log.push(...page.data);
      cursor = page.next_cursor ?? cursor;
      isMore = page.has_next;
    }
    expected = log.map(({ id }) => id);
    await Promise.all(consuming);

    const subjects = [data[0], ...log].map(({ subject }) => Number(subject.split('/').at(-1)));
    expect(subjects).toHaveLength(acknowledged.size);
    expect(new Set(subjects)).toEqual(acknowledged);
    for (const own of seen) expect(own).toEqual(expected);
    for (const app of apps) await app.close();
    await testStore.remove();
  }, 120_000);
});

describe('The position of an event on PostgreSQL', () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await startApi('PostgreSQL', {}, [FixtureModule]);
  });
  afterEach(() => api.stop());

  const subjects = async (): Promise<string[]> =>
    (await api.get('/v1/events?limit=100')).body.data.map(({ subject }: any) => subject);
  const dummy = (id: number) => `/v1/dummies/${id}`;
  const create = () => api.app.get(DummiesService, { strict: false }).create({ text: 'Slow' });

  /** Runs both steps in one transaction, and pauses between them. */
  async function pauseBetween(
    first: () => Promise<unknown>,
    second: () => Promise<unknown>,
  ): Promise<() => Promise<void>> {
    const [paused, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = api.rows.run(async () => {
      await first();
      paused.resolve();
      await resumed.promise;
      await second();
    });
    await paused.promise;
    return () => {
      resumed.resolve();
      return work;
    };
  }

  it('is assigned right after the commit of a slow transaction, though later events have theirs', async () => {
    const commit = await pauseBetween(create, async () => undefined);
    for (let n = 0; n < 5; n++) {
      await api.dummies.create();
      expect(await subjects()).toHaveLength(n + 1);
    }

    await commit();
    expect(await subjects()).toEqual([2, 3, 4, 5, 6, 1].map(dummy));
  });

  it('is assigned right after the commit, though an older transaction has recorded a later event', async () => {
    await api.dummies.create();
    const rename = () => api.rows.execute('UPDATE dummies SET text = :text WHERE id = 1', { text: 'Old' });
    const commitOlder = await pauseBetween(rename, create);
    const commitSlow = await pauseBetween(create, async () => undefined);
    await commitOlder();
    for (let n = 0; n < 3; n++) expect(await subjects()).toEqual([1, 3].map(dummy));

    await commitSlow();
    expect(await subjects()).toEqual([1, 3, 2].map(dummy));
  });
});
