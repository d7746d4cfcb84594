import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type EntityManager } from 'typeorm';
import type { Statement } from './statement.js';
import { Transactions } from './transactions.js';
import { startApi, startApiOn } from '../../../test/support/api.js';
import { FixtureModule } from '../../../test/support/fixture.module.js';
import { Stub } from '../../../test/support/fixture/stubs.js';
import { onEach } from '../../../test/support/on-each.js';
import { statementsOf } from '../../../test/support/statements.js';
import { createStore } from '../../../test/support/stores.js';

class Stop extends Error {}

function stop(): never {
  throw new Stop();
}

/** Text that must not be taken for SQL. */
const END = "'end' \\ :now";

/** Runs work like another request: outside of the unit of work of the caller. */
const elsewhere = AsyncLocalStorage.snapshot() as <T>(work: () => T) => T;

// With one connection, a leaked connection makes the next test fail.
const SETTINGS = { DATABASE_POOL_SIZE: '1' };
onEach('a deferred unit of work', { settings: SETTINGS, modules: [FixtureModule] }, ({ api, store }) => {
  let transactions: Transactions;
  beforeAll(async () => {
    transactions = api.app.get(Transactions);
  });

  const insertion = (text: string): Statement => ({
    sql: `INSERT INTO stubs (status, text, created_at) VALUES ('created', :text, :now) RETURNING id`,
    parameters: { text, now: new Date().toISOString() },
  });
  const insert = async (text: string): Promise<number> => {
    const { sql, parameters } = insertion(text);
    const [row] = await transactions.execute<{ id: number }>(sql, parameters);
    return row!.id;
  };
  const texts = async (): Promise<string[]> => {
    const rows = await api.rows.all<{ text: string }>('SELECT text FROM stubs ORDER BY id');
    return rows.map(({ text }) => text);
  };
  const clear = () => transactions.execute('DELETE FROM stubs');
  const steps = (log: string[] = []) => ({
    first: insertion('begin'),
    check: (rows: readonly unknown[]) => void log.push(`begin ${rows.length}`),
    last: (value: unknown): Statement[] => {
      log.push(`end ${String(value)}`);
      return [insertion(END)];
    },
  });
  /** What a request with a key does: the first statement before its writes, and the last ones when its response is sent. */
  const deferred = async <T>(
    work: () => Promise<T>,
    { first, check, last }: ReturnType<typeof steps>,
  ): Promise<T> => {
    const { value, unit } = await transactions.deferred(work, async (execute) =>
      check(await execute(first.sql, first.parameters)),
    );
    await unit.commit(() => last(value));
    return value;
  };
  /** Checks that writes still work, and that no earlier write remains uncommitted. */
  const expectAlive = async () => {
    await insert('alive');
    await transactions.run(async () => insert('alive'));
    expect((await texts()).filter((text) => text === 'alive')).toHaveLength(2);
    await clear();
  };

  const nestAfterError = async (manager: EntityManager) => {
    const ignore = () => 'never mind';
    const write = () =>
      manager.query(`INSERT INTO stubs (status, text, created_at) VALUES ('created', 'a', '2026-01-01')`);
    await manager.query('INSERT INTO no_such_table VALUES (1)').catch(ignore);
    await manager.transaction(write).catch(ignore);
    await write().catch(ignore);
  };

  it('has its steps and all its writes in one transaction', async () => {
    const log: string[] = [];
    let value: string | undefined;

    const statements = await statementsOf(async () => {
      value = await deferred(async () => {
        await sleep(1);
        await Promise.all([insert('a'), transactions.run(() => insert('b')), insert('c')]);
        await transactions.run(async (manager) => {
          await manager.query(`UPDATE stubs SET text = 'd' WHERE text = 'c'`);
          await transactions.run(() => insert('e'));
        });
        return 'value';
      }, steps(log));
    });

    expect(value).toBe('value');
    expect(log).toEqual(['begin 1', 'end value']);
    expect((await texts()).toSorted()).toEqual([END, 'a', 'b', 'begin', 'd', 'e']);
    expect((await texts())[0]).toBe('begin');
    // On SQLite, the transaction belongs to a group of units, in which each has a savepoint.
    expect(statements.filter((sql) => /^(SAVEPOINT member$|START TRANSACTION)/.test(sql))).toHaveLength(1);
    expect(statements.filter((sql) => /^RELEASE member$|COMMIT$/.test(sql))).toHaveLength(1);
    await clear();
    await expectAlive();
  });

  it('holds no connection before its first write', async () => {
    const value = await deferred(async () => {
      // A write of another request, which would otherwise wait forever.
      await elsewhere(() => insert('other'));
      await insert('own');
      return 1;
    }, steps());

    expect(value).toBe(1);
    expect(await texts()).toEqual(['other', 'begin', 'own', END]);
    await clear();
  });

  it('runs its steps in a transaction if it writes nothing', async () => {
    expect(await deferred(async () => 'nothing', steps())).toBe('nothing');
    expect(await texts()).toEqual(['begin', END]);
    await clear();
  });

  it('starts no transaction if it fails before its first write', async () => {
    const statements = await statementsOf(() =>
      expect(
        deferred(async () => {
          throw new Stop('early');
        }, steps()),
      ).rejects.toThrow('early'),
    );

    expect(statements).toEqual([]);
  });

  it.each<[string, Partial<ReturnType<typeof steps>>, () => Promise<unknown>]>([
    ['after a write', {}, () => insert('a').then(() => Promise.reject(new Stop()))],
    ['of the check', { check: stop }, () => insert('a')],
    ['of the check that the work ignores', { check: stop }, () => insert('a').catch(() => 'never mind')],
    ['of the check, without a write', { check: stop }, async () => 'nothing'],
    ['in the last step', { last: () => stop() }, () => insert('a')],
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
    await expect(deferred(work, { ...steps(), ...some })).rejects.toBeInstanceOf(Stop);

    expect(await texts()).toEqual([]);
    await expectAlive();
  });

  it.each(['first', 'last'] as const)(
    'stores nothing and blocks nothing after a rejected %s statement',
    async (step) => {
      const rejected = { sql: 'INSERT INTO no_such_table VALUES (:n)', parameters: { n: 1 } };
      const some = { first: { first: rejected }, last: { last: () => [insertion('end'), rejected] } }[step];

      const work = deferred(() => insert('a'), { ...steps(), ...some });

      await expect(work).rejects.toThrow(/no_such_table/);
      expect(await texts()).toEqual([]);
      await expectAlive();
    },
  );

  it('stores nothing and blocks nothing after a rejected statement', async () => {
    const work = async () => {
      await insert('a');
      await transactions.execute('INSERT INTO no_such_table VALUES (1)');
    };

    await expect(deferred(work, steps())).rejects.toThrow(/no_such_table/);
    expect(await texts()).toEqual([]);
    await expectAlive();
  });

  it.each<[string, string, () => Promise<unknown>]>([
    [
      'a rejected statement',
      'no_such_table',
      () => transactions.execute('INSERT INTO no_such_table VALUES (1)'),
    ],
    [
      'a rejected statement of a manager',
      'no_such_table',
      () => transactions.run((manager) => manager.query('INSERT INTO no_such_table VALUES (1)')),
    ],
    [
      'a failed nested unit of work',
      'after',
      () => transactions.run(async () => Promise.reject(new Stop(`after ${await insert('part')}`))),
    ],
  ])('fails even if the work ignores %s', async (_, message, part) => {
    const work = async () => {
      await insert('a');
      await part().catch(() => 'never mind');
      return 'value';
    };

    await expect(transactions.run(work)).rejects.toThrow(message);
    await expect(deferred(work, steps())).rejects.toThrow(message);
    expect(await texts()).toEqual([]);
    await expectAlive();
  });

  it('fails even if the work ignores a rejected statement of its manager', async () => {
    const work = async (manager: EntityManager) => {
      await manager.query(`INSERT INTO stubs (status, text, created_at) VALUES ('', 'a', '2026-01-01')`);
      await manager.query('INSERT INTO no_such_table VALUES (1)').catch(() => 'never mind');
    };

    await expect(transactions.run(work)).rejects.toThrow(/no_such_table/);
    expect(await texts()).toEqual([]);
    await expectAlive();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a unit of work', () => transactions.run((manager) => nestAfterError(manager))],
    ['a transaction', () => api.app.get(DataSource).transaction((manager) => nestAfterError(manager))],
  ])('stores nothing of %s that begins a nested transaction after an error', async (_, run) => {
    await expect(run()).rejects.toThrow(/no_such_table/);

    expect(await texts()).toEqual([]);
    await expectAlive();
  });

  it('reads its own writes on its only connection', async () => {
    const stubs = api.app.get(DataSource).getRepository(Stub);
    const read = async () => [
      await texts(),
      (await stubs.find({ order: { id: 'ASC' } })).map(({ text }) => text),
      await stubs.count(),
    ];

    const inside = await deferred(async () => {
      const before = await read();
      await insert('a');
      return [before, await read()];
    }, steps());

    expect(inside).toEqual([
      [[], [], 0],
      [['begin', 'a'], ['begin', 'a'], 2],
    ]);
    expect(await read()).toEqual([['begin', 'a', END], ['begin', 'a', END], 3]);
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
      void transactions.run(() => immediate().then(() => insert('b')));
    });

    expect(await texts()).toEqual(['a', 'b']);
    await clear();
  });

  it('excludes writes that begin after its end', async () => {
    let late: Promise<unknown> | undefined;
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const slow = () => gate.then(() => insert('late'));

    await deferred(async () => {
      await insert('a');
      late = slow();
    }, steps());
    await transactions
      .run(async () => {
        await insert('b');
        open();
        await immediate();
        throw new Stop();
      })
      .catch(() => undefined);
    await late;

    expect(await texts()).toEqual(['begin', 'a', END, 'late']);
    await clear();
  });

  it('lets its manager take part in a transaction that is nested in it', async () => {
    const source = api.app.get(DataSource);
    const stub = (text: string) => ({ status: 'created' as const, text, createdAt: new Date() });

    await transactions.run(async (outer) => {
      await source.transaction(async () => outer.save(Stub, stub('a')));
      await outer.transaction((inner) =>
        inner.transaction(() => outer.transaction(() => outer.insert(Stub, stub('b')))),
      );
      const rolledBack = source.transaction(async () => {
        await outer.insert(Stub, stub('c'));
        throw new Stop();
      });
      await rolledBack.catch(() => 'never mind');
      await outer.insert(Stub, stub('d'));
    });

    expect(await texts()).toEqual(['a', 'b', 'd']);
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
    expect(await texts()).toEqual(['a']);
    await clear();
  });

  it('rejects the use of its manager after its end', async () => {
    let manager: EntityManager | undefined;
    await transactions.run(async (own) => {
      manager = own;
    });

    const late = transactions.run(async () => {
      await insert('b');
      await elsewhere(async () => manager!.query('DELETE FROM stubs'));
    });
    await expect(late).rejects.toThrow(/after the end of the unit of work/);
    expect(await texts()).toEqual([]);
    await expectAlive();
  });

  it('retries after a conflict, and gives up eventually', async () => {
    const conflict = Object.assign(new Error('Collided'), {
      code: store === 'SQLite' ? 'SQLITE_BUSY' : '40001',
    });
    let [begun, tries] = [0, 0];
    const value = await deferred(
      async () => {
        await insert('a');
        if (++tries < 3) throw conflict;
        return tries;
      },
      {
        ...steps(),
        check: () => {
          if (++begun === 1) throw conflict;
        },
      },
    );

    // A conflict at the beginning does not repeat the work.
    expect([value, tries, begun]).toEqual([3, 3, 4]);
    expect(await texts()).toEqual(['begin', 'a', END]);
    await clear();
    await expect(
      deferred(async () => {
        await insert('a');
        throw conflict;
      }, steps()),
    ).rejects.toBe(conflict);
    await expectAlive();
  });

  it('fails if a transaction that began within it was not ended', async () => {
    const work = deferred(async () => {
      await insert('a');
      await api.app.get(DataSource).createQueryRunner().startTransaction();
      await insert('b');
    }, steps());

    await expect(work).rejects.toThrow('was not ended');
    expect(await texts()).toEqual([]);
    await expectAlive();
  });

  it('commits each of many concurrent ones that succeed, and none that fails', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        deferred(async () => {
          await insert(`a${n}`);
          await sleep(1);
          if (n % 5 === 0) throw new Stop();
          await insert(`b${n}`);
        }, steps()),
      ),
    );

    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    const rest = (await texts()).filter((text) => text !== 'begin' && text !== END);
    expect(rest).toEqual(expect.arrayContaining(['a1', 'b1', 'a49', 'b49']));
    expect(rest).toHaveLength(80);
    await clear();
  });
});

describe('a deferred unit of work on PostgreSQL', () => {
  it('is READ COMMITTED, so that it sees what was committed before its lock', async () => {
    const { environment, ...testStore } = await createStore('PostgreSQL');
    const before = await startApiOn(environment);
    await before.app
      .get(DataSource)
      .query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), 'repeatable read'); END $$`,
      );
    await before.stop();
    const api = await startApiOn(environment);
    let rows: readonly unknown[] | undefined;

    const { unit } = await api.app.get(Transactions).deferred(
      async () => undefined,
      async (execute) => {
        rows = await execute(`SELECT current_setting('transaction_isolation') AS isolation`);
      },
    );
    await unit.commit();

    expect(rows).toEqual([{ isolation: 'read committed' }]);
    await api.stop();
    await testStore.remove();
  });

  it('begins again on a clean connection after a conflict of its first statement', async () => {
    const api = await startApi('PostgreSQL', { DATABASE_POOL_SIZE: '1' }, [FixtureModule]);
    const transactions = api.app.get(Transactions);
    await transactions.execute('CREATE SEQUENCE calls');
    await transactions.execute(
      `CREATE FUNCTION collide_once() RETURNS boolean LANGUAGE plpgsql AS $$
       BEGIN
         IF nextval('calls') = 1 THEN RAISE EXCEPTION 'Collided' USING ERRCODE = '40001'; END IF;
         RETURN true;
       END $$`,
    );
    let checked: readonly unknown[] | undefined;

    const { value, unit } = await transactions.deferred(
      async () => 'value',
      async (execute) => {
        checked = await execute('SELECT collide_once() AS "hasBegun"');
      },
    );
    await unit.commit();

    expect(value).toBe('value');
    expect(checked).toEqual([{ hasBegun: true }]);
    await api.stop();
  });
});
