import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { Queries } from '../queries.js';
import { WRITE_DEADLINE } from '../failures.js';
import { Transactions } from '../transactions.js';
import { startApi } from '../../../../test/support/api.js';
import { FixtureModule } from '../../../../test/support/fixture.module.js';
import { ifEmbedded } from '../../../../test/support/stores.js';
import { onlyFake } from '../../../../test/support/fake-timers.js';

/** PostgreSQL runs each write on a separate connection. */
ifEmbedded(describe)('what is committed together on SQLite', () => {
  // A group accepts no members after some milliseconds, which may pass on a busy machine.
  beforeEach(() => {
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const insertion = (id: number, onConflict = '') =>
    `INSERT ${onConflict} INTO stubs (id, status, text, created_at) VALUES (${id}, 'created', '{}', '')`;

  it.each([
    ['writes', (transactions: Transactions, sql: string) => transactions.execute(sql)],
    [
      'units of work',
      (transactions: Transactions, sql: string) => transactions.run((manager) => manager.query(sql)),
    ],
  ])('%s are stored when an error of another one has rolled their transaction back', async (_, write) => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    const insert = (id: number, onConflict?: string) => write(transactions, insertion(id, onConflict));
    await insert(1);

    const writes = [insert(2), insert(3), insert(1, 'OR ROLLBACK'), insert(4)];
    const outcomes = (await Promise.allSettled(writes)).map(({ status }) => status);

    expect(outcomes).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await queries.all('SELECT id FROM stubs ORDER BY id')).toEqual([1, 2, 3, 4].map((id) => ({ id })));
    await api.stop();
  });

  it('units of work have their own results when the commit fails because of one of them', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    await transactions.execute(
      'CREATE TABLE marks (dummy_id integer REFERENCES dummies (id) DEFERRABLE INITIALLY DEFERRED)',
    );
    await api.dummies.create();
    const committed: number[] = [];
    const mark = (dummyId: number) =>
      transactions.run(async (manager) => {
        transactions.onCommit(() => committed.push(dummyId));
        await manager.query('INSERT INTO marks VALUES (?)', [dummyId]);
      });

    // The references are checked only by the commit.
    const outcomes = await Promise.allSettled([mark(1), mark(99), mark(1)]);

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' } });
    expect(await queries.all('SELECT dummy_id FROM marks')).toEqual([{ dummy_id: 1 }, { dummy_id: 1 }]);
    expect(committed).toEqual([1, 1]);
    await api.stop();
  });

  it('is every unit of work that has already arrived', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const transactions = api.app.get(Transactions);
    const order: string[] = [];
    const unit = async (name: string, id: number) => {
      await transactions.run(async (manager) => {
        await manager.query(insertion(id));
        order.push(`${name} runs`);
      });
      order.push(`${name} has committed`);
    };

    await Promise.all([unit('the first', 1), unit('the second', 2)]);

    expect(order.slice(0, 3)).toEqual(['the first runs', 'the second runs', 'the first has committed']);
    await api.stop();
  });

  it('fails after the commit of what made it fail, which can then be read', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    const insert = () => transactions.run((manager) => manager.query(insertion(1)));

    const [, found] = await Promise.all([
      insert(),
      insert().catch(() => queries.all('SELECT id FROM stubs WHERE id = 1')),
    ]);

    expect(found).toEqual([{ id: 1 }]);
    await api.stop();
  });

  it('does not wait for a transaction of a manager', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, source] = [api.app.get(Transactions), api.app.get(DataSource)];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const stored = () => api.rows.all('SELECT id FROM stubs ORDER BY id');

    const write = transactions.run((manager) => manager.query(insertion(1)));
    const other = source.transaction(async (manager) => {
      await manager.query(insertion(2));
      await released;
    });
    await write;
    expect(await stored()).toEqual([{ id: 1 }]);
    release();
    await other;
    expect(await stored()).toEqual([{ id: 1 }, { id: 2 }]);
    await api.stop();
  });

  it('all fails when the transaction is over after a failed commit, and nothing is stored', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    const insert = (id: number) => transactions.execute(insertion(id));
    const restore = fail('COMMIT');

    const outcomes = await Promise.allSettled([insert(1), insert(2), insert(3)]);
    restore();

    expect(outcomes).toEqual([1, 2, 3].map(() => ({ status: 'rejected', reason: DISK_ERROR })));
    expect(await queries.all('SELECT id FROM stubs')).toEqual([]);
    await insert(4);
    expect(await queries.all('SELECT id FROM stubs')).toEqual([{ id: 4 }]);
    await api.stop();
  });

  it('waits for a slow unit of work no longer than a write may wait, which is then rolled back', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));

    const first = transactions.execute(insertion(1));
    const slow = transactions.run(async (manager) => {
      await manager.query(insertion(2));
      begin();
      await released;
      await transactions.execute(insertion(3)).catch(() => 'never mind');
    });
    await began;
    jest.advanceTimersByTime(WRITE_DEADLINE);
    await first;
    await transactions.execute(insertion(4));
    release();

    await expect(slow).rejects.toThrow('Query runner already released');
    expect(await queries.all('SELECT id FROM stubs ORDER BY id')).toEqual([{ id: 1 }, { id: 4 }]);
    jest.useRealTimers();
    await api.stop();
  });

  it('has nothing of a unit of work that goes on after an error has ended the transaction', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    const ignore = () => 'never mind';
    await transactions.execute(insertion(1));

    const [, outcome] = await Promise.allSettled([
      transactions.execute(insertion(2)),
      transactions.run(async (manager) => {
        await manager.query(insertion(1, 'OR ROLLBACK')).catch(ignore);
        await manager.query(insertion(3)).catch(ignore);
        await transactions.execute(insertion(4)).catch(ignore);
        await manager.transaction((nested) => nested.query(insertion(5))).catch(ignore);
      }),
      transactions.execute(insertion(6)),
    ]);

    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } });
    expect(await queries.all('SELECT id FROM stubs ORDER BY id')).toEqual([1, 2, 6].map((id) => ({ id })));
    await api.stop();
  });

  it('is released when the savepoint of a member cannot end', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const [transactions, queries] = [api.app.get(Transactions), api.app.get(Queries)];
    const restore = fail('RELEASE member', 1);

    const outcomes = await Promise.allSettled([1, 2, 3].map((id) => transactions.execute(insertion(id))));
    restore();

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(await queries.all('SELECT id FROM stubs ORDER BY id')).toEqual([{ id: 2 }, { id: 3 }]);
    await api.stop();
  });
});

ifEmbedded(describe)('a unit of work on SQLite', () => {
  it('blocks other writes no longer than the write timeout', async () => {
    const api = await startApi('SQLite', {}, [FixtureModule]);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const endless = api.rows.run(() => released);

    const create = () => api.post('/v1/stubs', {}, { 'idempotency-key': 'key' });
    expect(await create()).toBeError('SERVICE_UNAVAILABLE');
    release();
    await endless;
    expect(await create()).toHaveStatus(201);
    await api.stop();
  });
});

const DISK_ERROR = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' });

/**
 * Makes a statement of SQLite fail as on a broken disk, which ends the transaction.
 *
 * @returns a function that ends that
 */
function fail(sql: string, times = Infinity): () => void {
  let left = times;
  const memory = new Database(':memory:');
  const statement: Record<string, (...values: any[]) => any> = Object.getPrototypeOf(
    memory.prepare('SELECT 1'),
  );
  memory.close();
  const original = statement['run']!;
  const spy = jest.spyOn(statement, 'run').mockImplementation(function (
    this: Database.Statement,
    ...values: any[]
  ) {
    if (this.source !== sql || left-- <= 0) return original.apply(this, values);
    this.database.exec('ROLLBACK');
    throw DISK_ERROR;
  } as never);
  return () => spy.mockRestore();
}
