import type { EntityManager } from 'typeorm';
import type { StatementParameters, Statement } from './statement.js';
import { retryConflicts } from './failures.js';
import type { ServiceDataSource } from './service-data-source.js';
import { runCommitHook } from './transaction-state.js';
import type { UnitOfWork } from './unit-of-work.js';

/** Runs a statement in the transaction that has just begun. */
export type Execute = <Row>(sql: string, parameters?: StatementParameters) => Promise<Row[]>;

/** Runs in a transaction that has just begun. */
type OnBegin = (execute: Execute, rows: readonly any[][]) => Promise<void>;

/** Work that is done, in a transaction that is still open. */
export interface OpenWork<T> {
  readonly value: T;
  /** To commit or to roll back: until then, it keeps its connection, on SQLite the only one that writes. */
  readonly unit: UnitOfWork;
}

/**
 * Transactions with retries after conflicts, in which repositories, managers and `Queries` take part: the current unit
 * of work is in an `AsyncLocalStorage` of the data source, whose query runners then use its connection.
 *
 * |          | PostgreSQL                      | SQLite                                                    |
 * | -------- | ------------------------------- | --------------------------------------------------------- |
 * | begin    | a connection of the pool        | waits for the writing connection; a savepoint of a group  |
 * | commit   | commits                         | ends the savepoint; the group commits once (`WriteQueue`) |
 * | conflict | serialization failure, deadlock | a command writes, or the group could not commit           |
 */
export class Transactions {
  constructor(private readonly source: ServiceDataSource) {}

  /** The current unit of work, even if its transaction has not begun. */
  get current(): object | undefined {
    return this.source.unit;
  }

  /**
   * Runs a unit of work: all of it commits, or nothing. It runs again after a conflict with another transaction, for up
   * to four seconds, so it must only read and write the database. Within another unit of work it is a part of that one,
   * which fails if this part fails; for a part that may fail by itself there is `dataSource.transaction`, a nested
   * transaction.
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const joined = this.source.unit;
    const begun = () => work(this.source.createQueryRunner().manager);
    if (joined) return joined.join(begun);
    return retryConflicts(async () => {
      const unit = this.newUnit();
      const value = await unit.run(() => unit.begin().then(begun));
      await unit.commit();
      return value;
    });
  }

  /** Runs one statement that writes or locks, in a transaction, and returns its `RETURNING` rows. */
  execute<Row>(sql: string, parameters: StatementParameters = {}): Promise<Row[]> {
    const { unit } = this.source;
    if (unit) return unit.execute((runner) => runner.execute<Row>(sql, parameters));
    return this.source.autocommit<Row>(sql, parameters);
  }

  /**
   * Adds a commit hook: it is called after the commit of the current unit of work, or at once without one. An error of
   * the hook is logged, and changes neither the result of the work nor the other hooks.
   */
  onCommit(hook: () => unknown): void {
    const { unit } = this.source;
    if (unit) unit.onCommit(hook);
    else runCommitHook(hook);
  }

  /**
   * Runs a unit of work whose transaction begins with its first write, so that slow work before it blocks no other
   * writes, and leaves it open for its owner to end. After a conflict the work runs again, as in {@link run}; a conflict at
   * the begin repeats the begin alone.
   *
   * @param onBegin runs before the first write, with the rows of each of the `reads`; throws to roll back. On PostgreSQL,
   * each of its statements, and of the reads, sees everything that was committed before it
   */
  deferred<T>(
    work: () => Promise<T>,
    onBegin: OnBegin,
    reads: readonly Statement[] = [],
  ): Promise<OpenWork<T>> {
    return retryConflicts(async () => {
      const unit = this.newUnit(onBegin, reads);
      const value = await unit.run(async () => {
        const result = await work();
        await unit.begin();
        return result;
      });
      return { value, unit };
    });
  }

  private newUnit(onBegin?: OnBegin, reads: readonly Statement[] = []): UnitOfWork {
    const runner = this.source.createUnitRunner();
    return this.source.newUnit(runner, async () => {
      const rows = await runner.beginWith(reads, onBegin && this.source.dialect.isolationOfLocks);
      await onBegin?.((sql, parameters = {}) => runner.execute(sql, parameters), rows);
    });
  }
}
