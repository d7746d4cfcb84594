import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import type { SqliteStore } from '../src/platform/config/config.js';
import { commandDataSource } from '../src/platform/database/data-source.js';
import { Database } from '../src/platform/database/database.js';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ifEmbedded } from './support/stores.js';
import { until } from './support/until.js';
import { onlyFake } from './support/fake-timers.js';

ifEmbedded(describe)('the embedded database', () => {
  it('syncs each commit to disk before the response', async () => {
    const api = await startApi('SQLite');

    const pragma = (name: string) => api.rows.run((manager) => manager.query(`PRAGMA ${name}`));
    expect(await pragma('synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    await api.stop();
  });

  it('shrinks its log after a burst of writes', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const file = join((api.config.store as SqliteStore).directory, 'database.sqlite-wal');
    await api.rows.run(async (manager) => {
      await manager.query('CREATE TABLE bytes (content blob)');
      await manager.query('INSERT INTO bytes VALUES (zeroblob(40000000))');
    });
    expect(statSync(file).size).toBeGreaterThan(40_000_000);

    // The next checkpoint lets the log begin again.
    for (let n = 0; n < 5; n++) await api.dummies.create();
    expect(statSync(file).size).toBeLessThanOrEqual(8 * 1024 * 1024);
    await api.stop();
  });

  it('commits concurrent writes together, each with its own result', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const { transactions, queries } = api.app.get(Database);
    await transactions.execute(
      `CREATE TABLE numbers (n integer UNIQUE,
         dummy_id integer REFERENCES dummies (id) DEFERRABLE INITIALLY DEFERRED)`,
    );
    await api.dummies.create();
    const insert = (n: number, dummyId = 1) =>
      transactions
        .execute<{ n: number }>('INSERT INTO numbers VALUES (:n, :dummyId) RETURNING n', { n, dummyId })
        .then(
          ([row]) => row!.n,
          ({ code }: { code: string }) => code,
        );
    const stored = () => queries.all<{ n: number }>('SELECT n FROM numbers ORDER BY n');

    expect(await Promise.all([insert(1), insert(1), insert(2)])).toEqual([1, 'SQLITE_CONSTRAINT_UNIQUE', 2]);
    expect(await stored()).toEqual([{ n: 1 }, { n: 2 }]);

    // The reference is checked only by the commit, which fails for all three.
    expect(await Promise.all([insert(3), insert(4, 99), insert(5)])).toEqual([
      3,
      'SQLITE_CONSTRAINT_FOREIGNKEY',
      5,
    ]);
    expect(await stored()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 5 }]);
    await api.stop();
  });

  it('times out each write at its own deadline while a transaction is under way', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const database = api.app.get(Database);
    const writer = () => database.pools().find(({ name }) => name === 'writer')!;
    const { promise: gate, resolve: end } = Promise.withResolvers<void>();
    const transaction = database.transactions.run(async (manager) => {
      await manager.query('UPDATE dummies SET version = version');
      await gate;
    });
    await until('the transaction has begun', () => writer().used === 1);
    const pending = writer().pending;
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
    try {
      const create = async (waiting: number) => {
        const reply = api.post('/v1/dummies', { text: 'T' });
        await until('it waits', () => writer().pending === pending + waiting);
        return { reply };
      };
      const first = await create(1);
      jest.advanceTimersByTime(500);
      const second = await create(2);
      jest.advanceTimersByTime(2500);
      const late = [await create(3), await create(4)];

      jest.advanceTimersByTime(1000);
      expect(await first.reply).toBeError('SERVICE_UNAVAILABLE');
      expect(writer().pending).toBe(pending + 3);
      jest.advanceTimersByTime(500);
      expect(await second.reply).toBeError('SERVICE_UNAVAILABLE');
      expect(writer().pending).toBe(pending + 2);
      end();
      for (const { reply } of late) expect(await reply).toHaveStatus(201);
    } finally {
      jest.useRealTimers();
    }
    await transaction;
    await api.stop();
  });

  it('lets writers run in the order of arrival', async () => {
    const api = await startApi('SQLite');
    const database = api.app.get(Database);
    const { transactions, queries } = database;
    await transactions.execute('CREATE TABLE turns (id integer PRIMARY KEY AUTOINCREMENT, name text)');
    const { promise: release, resolve: releaseFirst } = Promise.withResolvers<void>();
    const unit = (name: string, work = Promise.resolve()) =>
      transactions.run(async (manager) => {
        await manager.query('INSERT INTO turns (name) VALUES (?)', [name]);
        await work;
      });
    // Each write takes some milliseconds, so they are several groups.
    const write = (name: string) =>
      transactions.execute(
        `INSERT INTO turns (name) SELECT :name FROM (
           WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT max(i) FROM n)`,
        { name },
      );
    const writer = () => database.pools().find(({ name }) => name === 'writer')!;
    const numbers = Array.from({ length: 10 }, (_, n) => String(n));

    const work: Promise<unknown>[] = [unit('first', release)];
    await until('the first transaction has its turn', () => writer().used === 1);
    work.push(...numbers.map(write), unit('second'));
    await until('the others wait', () => writer().pending === 11);
    work.push(write('last'));
    releaseFirst();
    await Promise.all(work);
    const order = await queries.all<{ name: string }>('SELECT name FROM turns ORDER BY id');
    expect(order.map(({ name }) => name)).toEqual(['first', ...numbers, 'second', 'last']);
    await api.stop();
  });

  it('continues to serve reads while another process writes, and times out pending writes', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    await api.dummies.create();
    const other = await commandDataSource(api.config).initialize();
    const writer = other.createQueryRunner();
    await writer.startTransaction();

    let elapsed = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + elapsed);
    const create = () => api.post('/v1/dummies', { text: 'T' });
    const ended: string[] = [];
    const waiting = () => api.app.get(Database).pools()[0]!.pending;
    const writes = Promise.all([1, 2, 3].map(create)).finally(() => ended.push('the first writes'));
    await until('one write is retried, and the others wait', () => waiting() === 2);
    elapsed += 2500;
    const later = create().finally(() => ended.push('the last write'));
    await until('it waits', () => waiting() === 3);
    expect(await api.get('/v1/dummies/1')).toHaveStatus(200);
    expect(ended).toEqual([]);
    elapsed += 2000;
    for (const reply of await writes) expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(ended).toEqual(['the first writes']);

    await writer.rollbackTransaction();
    expect(await later).toHaveStatus(201);
    expect(await create()).toHaveStatus(201);
    await other.destroy();
    await api.stop();
  });
});
