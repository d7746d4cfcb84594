import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, EntityManager, type Repository } from 'typeorm';
import { isOutage } from '../../../src/platform/database/failures.js';
import { Transactions } from '../../../src/platform/database/transactions.js';
import { startApi } from '../../support/api.js';
import { FixtureModule } from '../../support/fixture.module.js';
import { Stub } from '../../support/fixture/stubs.js';
import { onEach } from '../../support/on-each.js';
import { ANY_STORE, ifEmbedded } from '../../support/stores.js';

class Stop extends Error {}

const stub = (text: string) => ({ status: 'created' as const, text, createdAt: new Date() });

/** A third must fail; on a slow machine others may time out, which are not acknowledged either. */
function acknowledged(outcomes: readonly PromiseSettledResult<string[]>[]): string[] {
  const isExpected = (outcome: PromiseSettledResult<string[]>, n: number) =>
    outcome.status === 'fulfilled' ? n % 3 !== 0 : n % 3 === 0 || isOutage(outcome.reason);
  expect(outcomes.filter((outcome, n) => !isExpected(outcome, n))).toEqual([]);
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
}

onEach('writes with TypeORM', { modules: [FixtureModule] }, ({ api }) => {
  let source: DataSource;
  let stubs: Repository<Stub>;
  beforeAll(async () => {
    source = api.app.get(DataSource);
    stubs = source.getRepository(Stub);
  });
  afterEach(() => stubs.clear());

  const texts = async () => (await stubs.find({ order: { id: 'ASC' } })).map(({ text }) => text);

  /** Writes twice with a pause in between, or throws after the first write. */
  const twice = async (name: string, stops: boolean, write: (text: string) => Promise<unknown>) => {
    await write(`${name} a`);
    await sleep(1);
    if (stops) throw new Stop();
    await write(`${name} b`);
    return [`${name} a`, `${name} b`];
  };

  const WAYS: Record<string, (name: string, stops: boolean) => Promise<string[]>> = {
    save: async (name, stops) => {
      const both = [stub(`${name} a`), stops ? ({ status: 'created' } as Stub) : stub(`${name} b`)];
      await stubs.save(both);
      return [`${name} a`, `${name} b`];
    },
    'insert and query builder': async (name, stops) => {
      if (stops) {
        await stubs.insert([stub(name), { ...stub(name), status: null as never }]);
      }
      await stubs.insert(stub(`${name} a`));
      await stubs
        .createQueryBuilder()
        .insert()
        .values(stub(`${name} x`))
        .execute();
      await stubs
        .createQueryBuilder()
        .update()
        .set({ text: `${name} b` })
        .where('text = :text', { text: `${name} x` })
        .execute();
      return [`${name} a`, `${name} b`];
    },
    'dataSource.transaction': (name, stops) =>
      source.transaction((manager) => twice(name, stops, (text) => manager.save(Stub, stub(text)))),
    'entityManager.transaction': (name, stops) =>
      api.app
        .get(EntityManager)
        .transaction('SERIALIZABLE', (manager) =>
          twice(name, stops, (text) => manager.insert(Stub, stub(text))),
        )
        .catch((error: { code?: string }) => {
          // After a conflict of serializable transactions, the caller must retry.
          if (error.code === '40001') return WAYS['entityManager.transaction']!(name, stops);
          throw error;
        }),
    QueryRunner: async (name, stops) => {
      const runner = source.createQueryRunner();
      await runner.connect();
      await runner.startTransaction();
      try {
        const written = await twice(name, stops, (text) => runner.manager.save(Stub, stub(text)));
        await runner.commitTransaction();
        return written;
      } catch (error) {
        await runner.rollbackTransaction();
        throw error;
      } finally {
        await runner.release();
      }
    },
    'Transactions.run': (name, stops) =>
      api.app.get(Transactions).run(() => twice(name, stops, (text) => stubs.save(stubs.create(stub(text))))),
    'Transactions.run with a nested transaction': (name, stops) =>
      api.app.get(Transactions).run(async () => {
        await source
          .transaction((manager) => twice(`${name} no`, true, (text) => manager.save(Stub, stub(text))))
          .catch((error: unknown) => {
            if (!(error instanceof Stop)) throw error;
          });
        return source.transaction(() => twice(name, stops, (text) => stubs.insert(stub(text))));
      }),
    'raw queries': async (name, stops) => {
      const insert = (text: string) =>
        source.query(
          `INSERT INTO stubs (status, text, created_at) VALUES ('created', '${text}', '2026-01-01T00:00:00.000Z')`,
        );
      if (stops) await source.query('INSERT INTO stubs (status) VALUES (1, 2)');
      await insert(`${name} a`);
      await insert(`${name} b`);
      return [`${name} a`, `${name} b`];
    },
  };

  it.each(Object.keys(WAYS))(
    'are all stored, and no others, after 300 concurrent ones by %s',
    async (way) => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 300 }, (_, n) => WAYS[way]!(`${n}`, n % 3 === 0)),
      );

      expect((await texts()).toSorted()).toEqual(acknowledged(outcomes).toSorted());
    },
  );

  it('are all stored and readable at once, and no others, after 300 concurrent ones of all kinds', async () => {
    const ways = Object.values(WAYS);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, async (_, n) => {
        const written = await ways[n % ways.length]!(`${n}`, n % 3 === 0);
        expect(await stubs.countBy({ text: written[1]! })).toBe(1);
        return written;
      }),
    );

    expect((await texts()).toSorted()).toEqual(acknowledged(outcomes).toSorted());
  });

  it('do not commit the rest of a transaction after a failed statement', async () => {
    const half = source.transaction(async (manager) => {
      await manager.insert(Stub, stub('a'));
      await manager.query('INSERT INTO no_such_table VALUES (1)').catch(() => 'never mind');
    });

    await expect(half).rejects.toThrow(/no_such_table/);
    expect(await texts()).toEqual([]);
  });

  it('continue after a savepoint has rolled back a failed statement', async () => {
    await source.transaction(async (manager) => {
      await manager.insert(Stub, stub('a'));
      await manager
        .transaction((nested) => nested.query('INSERT INTO no_such_table VALUES (1)'))
        .catch(() => 'never mind');
      await manager.insert(Stub, stub('b'));
    });
    await api.app.get(Transactions).run(async (manager) => {
      await stubs.insert(stub('c'));
      await manager.transaction(() => stubs.insert({ ...stub('d'), status: null as never })).catch(() => 0);
      await stubs.insert(stub('e'));
    });

    expect(await texts()).toEqual(['a', 'b', 'c', 'e']);
  });

  it('keep concurrent nested transactions apart', async () => {
    await api.app.get(Transactions).run(async () => {
      const nested = (name: string, stops: boolean) =>
        source
          .transaction((manager) => twice(name, stops, (text) => manager.insert(Stub, stub(text))))
          .catch(() => undefined);
      await Promise.all([
        nested('1', false),
        nested('2', true),
        stubs.insert(stub('3')),
        nested('4', false),
        nested('5', true),
      ]);
    });

    expect((await texts()).toSorted()).toEqual(['1 a', '1 b', '3', '4 a', '4 b']);
  });

  it('are not lost in a transaction that was released before its end', async () => {
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Stub, stub('forgotten'));
    await runner.release();

    await stubs.insert(stub('a'));
    await Promise.all(['b', 'c'].map((text) => stubs.save(stub(text))));

    expect((await texts()).toSorted()).toEqual(['a', 'b', 'c']);
    await expect(runner.query('SELECT 1')).rejects.toThrow(/released/);
  });

  it('are visible to the statements of their transaction, also of a runner that has read before', async () => {
    const runner = source.createQueryRunner('slave');
    const count = async () => Number((await runner.query('SELECT count(*) AS n FROM stubs'))[0].n);
    const before = await count();
    await runner.startTransaction();
    await runner.manager.insert(Stub, stub('a'));
    const after = await count();
    await runner.rollbackTransaction();
    await runner.release();

    expect([before, after]).toEqual([0, 1]);
    expect(await texts()).toEqual([]);
  });

  it('do not wait for runners that are never released', async () => {
    const runners = Array.from({ length: 3 }, () => source.createQueryRunner());
    for (const runner of runners) {
      await runner.connect();
      await runner.startTransaction();
      await runner.manager.insert(Stub, stub('forgotten'));
      await runner.commitTransaction();
    }

    await stubs.insert(stub('a'));

    expect(await texts()).toEqual(['forgotten', 'forgotten', 'forgotten', 'a']);
    for (const runner of runners) await runner.release();
  });

  it('are visible in the same unit of work, and nowhere else before the commit', async () => {
    const seen: number[] = [];
    const { promise: outside, resolve: look } = Promise.withResolvers<void>();
    const looked = outside.then(async () => seen.push(await stubs.count()));
    await api.app.get(Transactions).run(async () => {
      await stubs.save(stub('a'));
      look();
      await looked;
      seen.push(await stubs.count(), await source.createQueryBuilder(Stub, 'o').getCount());
    });

    expect(seen).toEqual([0, 1, 1]);
  });
});

ifEmbedded(describe)('an unfinished transaction on SQLite', () => {
  it('makes other writes time out, and is rolled back eventually', async () => {
    const api = await startApi(ANY_STORE, {}, [FixtureModule]);
    const stubs = api.app.get(DataSource).getRepository(Stub);
    const runner = api.app.get(DataSource).createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Stub, stub('forgotten'));

    await expect(stubs.insert(stub('a'))).rejects.toThrow(/one writer at a time/);
    expect(await api.post('/v1/dummies', { text: 'T' })).toBeError('SERVICE_UNAVAILABLE');
    await stubs.insert(stub('b')).catch(() => undefined);
    await stubs.insert(stub('c'));

    expect((await stubs.find()).map(({ text }) => text)).toContain('c');
    expect(await stubs.countBy({ text: 'forgotten' })).toBe(0);
    await expect(runner.commitTransaction()).rejects.toThrow(/not started|released/i);
    await runner.release();
    await api.stop();
  }, 40_000);
});
