import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, EntityManager, type Repository } from 'typeorm';
import { isOutage } from '../../../src/platform/database/failures.js';
import { Transactions } from '../../../src/platform/database/transactions.js';
import { Order } from '../../../src/orders/order.entity.js';
import { startApi, type TestApi } from '../../support/api.js';
import { ANY_STORE, ifEmbedded, STORES } from '../../support/stores.js';

class Stop extends Error {}

const order = (payload: string) => ({ status: 'created' as const, payload, createdAt: new Date() });

/** A third must fail; on a slow machine others may time out, which are not acknowledged either. */
function acknowledged(outcomes: readonly PromiseSettledResult<string[]>[]): string[] {
  const isExpected = (outcome: PromiseSettledResult<string[]>, n: number) =>
    outcome.status === 'fulfilled' ? n % 3 !== 0 : n % 3 === 0 || isOutage(outcome.reason);
  expect(outcomes.filter((outcome, n) => !isExpected(outcome, n))).toEqual([]);
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
}

describe.each(STORES)('writes with TypeORM on %s', (store) => {
  let api: TestApi;
  let source: DataSource;
  let orders: Repository<Order>;
  beforeAll(async () => {
    api = await startApi(store);
    source = api.app.get(DataSource);
    orders = source.getRepository(Order);
  });
  afterAll(() => api.stop());
  afterEach(() => orders.clear());

  const payloads = async () => (await orders.find({ order: { id: 'ASC' } })).map(({ payload }) => payload);

  /** Writes twice with a pause in between, or throws after the first write. */
  const twice = async (name: string, stops: boolean, write: (payload: string) => Promise<unknown>) => {
    await write(`${name} a`);
    await sleep(1);
    if (stops) throw new Stop();
    await write(`${name} b`);
    return [`${name} a`, `${name} b`];
  };

  const WAYS: Record<string, (name: string, stops: boolean) => Promise<string[]>> = {
    save: async (name, stops) => {
      const both = [order(`${name} a`), stops ? ({ status: 'created' } as Order) : order(`${name} b`)];
      await orders.save(both);
      return [`${name} a`, `${name} b`];
    },
    'insert and query builder': async (name, stops) => {
      if (stops) {
        await orders.insert([order(name), { ...order(name), status: null as never }]);
      }
      await orders.insert(order(`${name} a`));
      await orders
        .createQueryBuilder()
        .insert()
        .values(order(`${name} x`))
        .execute();
      await orders
        .createQueryBuilder()
        .update()
        .set({ payload: `${name} b` })
        .where('payload = :payload', { payload: `${name} x` })
        .execute();
      return [`${name} a`, `${name} b`];
    },
    'dataSource.transaction': (name, stops) =>
      source.transaction((manager) => twice(name, stops, (payload) => manager.save(Order, order(payload)))),
    'entityManager.transaction': (name, stops) =>
      api.app
        .get(EntityManager)
        .transaction('SERIALIZABLE', (manager) =>
          twice(name, stops, (payload) => manager.insert(Order, order(payload))),
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
        const written = await twice(name, stops, (payload) => runner.manager.save(Order, order(payload)));
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
      api.app
        .get(Transactions)
        .run(() => twice(name, stops, (payload) => orders.save(orders.create(order(payload))))),
    'Transactions.run with a nested transaction': (name, stops) =>
      api.app.get(Transactions).run(async () => {
        await source
          .transaction((manager) =>
            twice(`${name} no`, true, (payload) => manager.save(Order, order(payload))),
          )
          .catch((error: unknown) => {
            if (!(error instanceof Stop)) throw error;
          });
        return source.transaction(() => twice(name, stops, (payload) => orders.insert(order(payload))));
      }),
    'raw queries': async (name, stops) => {
      const insert = (payload: string) =>
        source.query(
          `INSERT INTO orders (status, payload, created_at) VALUES ('created', '${payload}', '2026-01-01T00:00:00.000Z')`,
        );
      if (stops) await source.query('INSERT INTO orders (status) VALUES (1, 2)');
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

      expect((await payloads()).toSorted()).toEqual(acknowledged(outcomes).toSorted());
    },
  );

  it('are all stored and readable at once, and no others, after 300 concurrent ones of all kinds', async () => {
    const ways = Object.values(WAYS);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, async (_, n) => {
        const written = await ways[n % ways.length]!(`${n}`, n % 3 === 0);
        expect(await orders.countBy({ payload: written[1]! })).toBe(1);
        return written;
      }),
    );

    expect((await payloads()).toSorted()).toEqual(acknowledged(outcomes).toSorted());
  });

  it('do not commit the rest of a transaction after a failed statement', async () => {
    const half = source.transaction(async (manager) => {
      await manager.insert(Order, order('a'));
      await manager.query('INSERT INTO no_such_table VALUES (1)').catch(() => 'never mind');
    });

    await expect(half).rejects.toThrow(/no_such_table/);
    expect(await payloads()).toEqual([]);
  });

  it('continue after a savepoint has rolled back a failed statement', async () => {
    await source.transaction(async (manager) => {
      await manager.insert(Order, order('a'));
      await manager
        .transaction((nested) => nested.query('INSERT INTO no_such_table VALUES (1)'))
        .catch(() => 'never mind');
      await manager.insert(Order, order('b'));
    });
    await api.app.get(Transactions).run(async (manager) => {
      await orders.insert(order('c'));
      await manager.transaction(() => orders.insert({ ...order('d'), status: null as never })).catch(() => 0);
      await orders.insert(order('e'));
    });

    expect(await payloads()).toEqual(['a', 'b', 'c', 'e']);
  });

  it('keep concurrent nested transactions apart', async () => {
    await api.app.get(Transactions).run(async () => {
      const nested = (name: string, stops: boolean) =>
        source
          .transaction((manager) => twice(name, stops, (payload) => manager.insert(Order, order(payload))))
          .catch(() => undefined);
      await Promise.all([
        nested('1', false),
        nested('2', true),
        orders.insert(order('3')),
        nested('4', false),
        nested('5', true),
      ]);
    });

    expect((await payloads()).toSorted()).toEqual(['1 a', '1 b', '3', '4 a', '4 b']);
  });

  it('are not lost in a transaction that was released before its end', async () => {
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Order, order('forgotten'));
    await runner.release();

    await orders.insert(order('a'));
    await Promise.all(['b', 'c'].map((payload) => orders.save(order(payload))));

    expect((await payloads()).toSorted()).toEqual(['a', 'b', 'c']);
    await expect(runner.query('SELECT 1')).rejects.toThrow(/released/);
  });

  it('are visible to the statements of their transaction, also of a runner that has read before', async () => {
    const runner = source.createQueryRunner('slave');
    const count = async () => Number((await runner.query('SELECT count(*) AS n FROM orders'))[0].n);
    const before = await count();
    await runner.startTransaction();
    await runner.manager.insert(Order, order('a'));
    const after = await count();
    await runner.rollbackTransaction();
    await runner.release();

    expect([before, after]).toEqual([0, 1]);
    expect(await payloads()).toEqual([]);
  });

  it('do not wait for runners that are never released', async () => {
    const runners = Array.from({ length: 3 }, () => source.createQueryRunner());
    for (const runner of runners) {
      await runner.connect();
      await runner.startTransaction();
      await runner.manager.insert(Order, order('forgotten'));
      await runner.commitTransaction();
    }

    await orders.insert(order('a'));

    expect(await payloads()).toEqual(['forgotten', 'forgotten', 'forgotten', 'a']);
    for (const runner of runners) await runner.release();
  });

  it('are visible in the same unit of work, and nowhere else before the commit', async () => {
    const seen: number[] = [];
    const { promise: outside, resolve: look } = Promise.withResolvers<void>();
    const looked = outside.then(async () => seen.push(await orders.count()));
    await api.app.get(Transactions).run(async () => {
      await orders.save(order('a'));
      look();
      await looked;
      seen.push(await orders.count(), await source.createQueryBuilder(Order, 'o').getCount());
    });

    expect(seen).toEqual([0, 1, 1]);
  });
});

ifEmbedded(describe)('an unfinished transaction on SQLite', () => {
  it('makes other writes time out, and is rolled back eventually', async () => {
    const api = await startApi(ANY_STORE);
    const orders = api.app.get(DataSource).getRepository(Order);
    const runner = api.app.get(DataSource).createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Order, order('forgotten'));

    await expect(orders.insert(order('a'))).rejects.toThrow(/one writer at a time/);
    expect(await api.post('/v1/posts', { title: 'T', content: 'C' })).toBeError('SERVICE_UNAVAILABLE');
    await orders.insert(order('b')).catch(() => undefined);
    await orders.insert(order('c'));

    expect((await orders.find()).map(({ payload }) => payload)).toContain('c');
    expect(await orders.countBy({ payload: 'forgotten' })).toBe(0);
    await expect(runner.commitTransaction()).rejects.toThrow(/not started|released/i);
    await runner.release();
    await api.stop();
  }, 40_000);
});
