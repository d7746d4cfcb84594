import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type EntityManager } from 'typeorm';
import { Queries } from '../src/database/queries.js';
import { Transactions } from '../src/database/transactions.js';
import { Order } from '../src/orders/order.entity.js';
import { startApi, type TestApi } from './support/api.js';
import { statementsOf } from './support/statements.js';
import { STORES } from './support/stores.js';

class Stop extends Error {}

/** Runs work like another request: outside of the unit of work of the caller. */
const elsewhere = AsyncLocalStorage.snapshot() as <T>(work: () => T) => T;

describe.each(STORES)('a deferred unit of work on %s', (store) => {
  let api: TestApi;
  let transactions: Transactions;
  beforeAll(async () => {
    // With one connection, a leaked connection makes the next test fail.
    api = await startApi(store, { DATABASE_POOL_SIZE: '1' });
    transactions = api.app.get(Transactions);
  });
  afterAll(() => api.stop());

  const insert = async (payload: string): Promise<number> => {
    const [row] = await transactions.execute<{ id: number }>(
      `INSERT INTO orders (status, payload, created_at) VALUES ('created', :payload, :now) RETURNING id`,
      { payload, now: new Date().toISOString() },
    );
    return row!.id;
  };
  const payloads = async (): Promise<string[]> => {
    const rows = await api.app
      .get(Queries)
      .all<{ payload: string }>('SELECT payload FROM orders ORDER BY id');
    return rows.map(({ payload }) => payload);
  };
  const clear = () => transactions.execute('DELETE FROM orders');
  const hooks = (log: string[] = []) => ({
    atBegin: async () => void log.push(`begin ${await insert('begin')}`.replace(/\d+/, 'n')),
    atEnd: async (value: unknown) =>
      void log.push(`end ${String(value)} ${await insert('end')}`.replace(/\d+$/, 'n')),
  });
  /** Checks that writes still work, and that no earlier write remains uncommitted. */
  const expectAlive = async () => {
    await insert('alive');
    await transactions.run(async () => insert('alive'));
    expect((await payloads()).filter((payload) => payload === 'alive')).toHaveLength(2);
    await clear();
  };

  it('has its hooks and all its writes in one transaction', async () => {
    const log: string[] = [];
    let value: string | undefined;

    const statements = await statementsOf(async () => {
      value = await transactions.deferred(async () => {
        await sleep(1);
        await Promise.all([insert('a'), transactions.run(() => insert('b')), insert('c')]);
        await transactions.run(async (manager) => {
          await manager.query(`UPDATE orders SET payload = 'd' WHERE payload = 'c'`);
          await transactions.run(() => insert('e'));
        });
        return 'value';
      }, hooks(log));
    });

    expect(value).toBe('value');
    expect(log).toEqual(['begin n', 'end value n']);
    expect((await payloads()).toSorted()).toEqual(['a', 'b', 'begin', 'd', 'e', 'end']);
    expect((await payloads())[0]).toBe('begin');
    expect(statements.filter((sql) => /^(BEGIN|START)/.test(sql))).toHaveLength(1);
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1);
    await clear();
    await expectAlive();
  });

  it('holds no connection before its first write', async () => {
    const value = await transactions.deferred(async () => {
      // A write of another request, which would otherwise wait forever.
      await elsewhere(() => insert('other'));
      await insert('own');
      return 1;
    }, hooks());

    expect(value).toBe(1);
    expect(await payloads()).toEqual(['other', 'begin', 'own', 'end']);
    await clear();
  });

  it('runs its hooks in a transaction if it writes nothing', async () => {
    expect(await transactions.deferred(async () => 'nothing', hooks())).toBe('nothing');
    expect(await payloads()).toEqual(['begin', 'end']);
    await clear();
  });

  it('starts no transaction if it fails before its first write', async () => {
    const statements = await statementsOf(() =>
      expect(
        transactions.deferred(async () => {
          throw new Stop('early');
        }, hooks()),
      ).rejects.toThrow('early'),
    );

    expect(statements).toEqual([]);
  });

  it.each<[string, Partial<ReturnType<typeof hooks>>, () => Promise<unknown>]>([
    ['after a write', {}, () => insert('a').then(() => Promise.reject(new Stop()))],
    [
      'in atBegin',
      {
        atBegin: async () => {
          await insert('begin');
          throw new Stop();
        },
      },
      () => insert('a'),
    ],
    [
      'in atBegin, although the work ignores it',
      { atBegin: () => Promise.reject(new Stop()) },
      () => insert('a').catch(() => 'never mind'),
    ],
    ['in atBegin, without a write', { atBegin: () => Promise.reject(new Stop()) }, async () => 'nothing'],
    [
      'in atEnd',
      {
        atEnd: async () => {
          await insert('end');
          throw new Stop();
        },
      },
      () => insert('a'),
    ],
    [
      'in one of two concurrent writes',
      {},
      () => Promise.all([insert('a'), insert('b').then(() => Promise.reject(new Stop()))]),
    ],
    [
      'before its first write has begun',
      {},
      async () => {
        void insert('a').catch(() => undefined);
        throw new Stop();
      },
    ],
  ])('stores nothing and blocks nothing after a failure %s', async (_, some, work) => {
    await expect(transactions.deferred(work, { ...hooks(), ...some })).rejects.toBeInstanceOf(Stop);

    expect(await payloads()).toEqual([]);
    await expectAlive();
  });

  it('stores nothing and blocks nothing after a rejected statement', async () => {
    const work = async () => {
      await insert('a');
      await transactions.execute('INSERT INTO no_such_table VALUES (1)');
    };

    await expect(transactions.deferred(work, hooks())).rejects.toThrow(/no_such_table/);
    expect(await payloads()).toEqual([]);
    await expectAlive();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a rejected statement', () => transactions.execute('INSERT INTO no_such_table VALUES (1)')],
    [
      'a rejected statement of a manager',
      () => transactions.run((manager) => manager.query('INSERT INTO no_such_table VALUES (1)')),
    ],
    [
      'a failed nested unit of work',
      () => transactions.run(async () => Promise.reject(new Stop(`after ${await insert('part')}`))),
    ],
  ])('fails even if the work ignores %s', async (_, part) => {
    const work = async () => {
      await insert('a');
      await part().catch(() => 'never mind');
      return 'value';
    };

    await expect(transactions.run(work)).rejects.toThrow(/no_such_table|after/);
    await expect(transactions.deferred(work, hooks())).rejects.toThrow(/no_such_table|after/);
    expect(await payloads()).toEqual([]);
    await expectAlive();
  });

  it('fails even if the work ignores a rejected statement of its manager', async () => {
    const work = async (manager: EntityManager) => {
      await manager.query(`INSERT INTO orders (status, payload, created_at) VALUES ('', 'a', '2026-01-01')`);
      await manager.query('INSERT INTO no_such_table VALUES (1)').catch(() => 'never mind');
    };

    await expect(transactions.run(work)).rejects.toThrow(/no_such_table/);
    expect(await payloads()).toEqual([]);
    await expectAlive();
  });

  it('reads its own writes on its only connection', async () => {
    const orders = api.app.get(DataSource).getRepository(Order);
    const read = async () => [
      await payloads(),
      (await orders.find({ order: { id: 'ASC' } })).map(({ payload }) => payload),
      await orders.count(),
    ];

    const inside = await transactions.deferred(async () => {
      const before = await read();
      await insert('a');
      return [before, await read()];
    }, hooks());

    expect(inside).toEqual([
      [[], [], 0],
      [['begin', 'a'], ['begin', 'a'], 2],
    ]);
    expect(await read()).toEqual([['begin', 'a', 'end'], ['begin', 'a', 'end'], 3]);
    await clear();
    expect(await transactions.run(async () => [await read(), await insert('b').then(read)])).toEqual([
      [[], [], 0],
      [['b'], ['b'], 1],
    ]);
    await clear();
  });

  it('waits for everything that has begun in it before it commits', async () => {
    await transactions.run(async () => {
      void insert('a');
      void transactions.run(() => sleep(20).then(() => insert('b')));
    });

    expect(await payloads()).toEqual(['a', 'b']);
    await clear();
  });

  it('excludes writes that begin after its end', async () => {
    let late: Promise<unknown> | undefined;
    const slow = () => sleep(20).then(() => insert('late'));

    await transactions.deferred(async () => {
      await insert('a');
      late = slow();
    }, hooks());
    await transactions
      .run(async () => {
        await insert('b');
        await sleep(40);
        throw new Stop();
      })
      .catch(() => undefined);
    await late;

    expect(await payloads()).toEqual(['begin', 'a', 'end', 'late']);
    await clear();
  });

  it('lets its manager take part in a transaction that is nested in it', async () => {
    const source = api.app.get(DataSource);
    const order = (payload: string) => ({ status: 'created' as const, payload, createdAt: new Date() });

    await transactions.run(async (outer) => {
      await source.transaction(async () => outer.save(Order, order('a')));
      await outer.transaction((inner) =>
        inner.transaction(() => outer.transaction(() => outer.insert(Order, order('b')))),
      );
      const rolledBack = source.transaction(async () => {
        await outer.insert(Order, order('c'));
        throw new Stop();
      });
      await rolledBack.catch(() => 'never mind');
      await outer.insert(Order, order('d'));
    });

    expect(await payloads()).toEqual(['a', 'b', 'd']);
    await clear();
    await expectAlive();
  });

  it('stays committed when its callbacks fail, and calls all of them', async () => {
    const called: string[] = [];
    const fail = (name: string) => {
      called.push(name);
      throw new Stop(name);
    };

    await transactions.run(async () => {
      transactions.onCommit(() => fail('first'));
      transactions.onCommit(async () => fail('second'));
      transactions.onCommit(() => void called.push('third'));
      await insert('a');
    });
    transactions.onCommit(() => fail('alone'));

    expect(called).toEqual(['first', 'second', 'third', 'alone']);
    expect(await payloads()).toEqual(['a']);
    await clear();
  });

  it('rejects the use of its manager after its end', async () => {
    let manager: EntityManager | undefined;
    await transactions.run(async (own) => {
      manager = own;
    });

    const late = transactions.run(async () => {
      await insert('b');
      await elsewhere(async () => manager!.query('DELETE FROM orders'));
    });
    await expect(late).rejects.toThrow(/after the end of the unit of work/);
    expect(await payloads()).toEqual([]);
    await expectAlive();
  });

  it('retries after a collision, and gives up eventually', async () => {
    const collision = Object.assign(new Error('Collided'), {
      code: store === 'SQLite' ? 'SQLITE_BUSY' : '40001',
    });
    let [begun, tries] = [0, 0];
    const value = await transactions.deferred(
      async () => {
        await insert('a');
        if (++tries < 3) throw collision;
        return tries;
      },
      {
        ...hooks(),
        atBegin: async () => {
          if (++begun === 1) throw collision;
        },
      },
    );

    // A collision in atBegin does not repeat the work.
    expect([value, tries, begun]).toEqual([3, 3, 4]);
    expect(await payloads()).toEqual(['a', 'end']);
    await clear();
    await expect(
      transactions.deferred(async () => {
        await insert('a');
        throw collision;
      }, hooks()),
    ).rejects.toBe(collision);
    await expectAlive();
  });

  it('commits each of many concurrent ones that succeed, and none that fails', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        transactions.deferred(async () => {
          await insert(`a${n}`);
          await sleep(1);
          if (n % 5 === 0) throw new Stop();
          await insert(`b${n}`);
        }, hooks()),
      ),
    );

    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    const rest = (await payloads()).filter((payload) => payload !== 'begin' && payload !== 'end');
    expect(rest).toEqual(expect.arrayContaining(['a1', 'b1', 'a49', 'b49']));
    expect(rest).toHaveLength(80);
    await clear();
  });
});

/** PostgreSQL runs each write on a separate connection. */
describe('writes that are committed together on SQLite', () => {
  it('are stored when an error of another one has rolled their transaction back', async () => {
    const api = await startApi('SQLite');
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    const insert = (id: number, onConflict = '') =>
      transactions.execute(
        `INSERT ${onConflict} INTO orders (id, status, payload, created_at) VALUES (:id, 'created', '{}', '')`,
        { id },
      );
    await insert(1);

    const writes = [insert(2), insert(3), insert(1, 'OR ROLLBACK'), insert(4)];
    const outcomes = (await Promise.allSettled(writes)).map(({ status }) => status);

    expect(outcomes).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await queries.all('SELECT id FROM orders ORDER BY id')).toEqual(
      [1, 2, 3, 4].map((id) => ({ id })),
    );
    await api.stop();
  });
});

/** PostgreSQL runs each write on a separate connection. */
describe('a unit of work on SQLite', () => {
  it('blocks other writes no longer than the write timeout', async () => {
    const api = await startApi('SQLite');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const endless = api.app.get(Transactions).run(() => released);

    const order = () => api.post('/v1/orders', {}, { 'idempotency-key': 'key' });
    expect(await order()).toBeError('SERVICE_UNAVAILABLE');
    release();
    await endless;
    expect(await order()).toHaveStatus(201);
    await api.stop();
  }, 20_000);
});
