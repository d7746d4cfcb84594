import type { EntityManager } from 'typeorm';
import type { Parameters, Statement } from './statement.js';
import { isConflict, retryConflicts } from './failures.js';
import type { ServiceDataSource } from './service-data-source.js';
import { runCommitHook, type ServiceQueryRunner } from './unit-of-work.js';

/** Additional steps of a deferred unit of work, in the same transaction. */
export interface DeferredSteps<T> {
  /**
   * A name that the transaction tries to lock when it begins, without waiting for another one that has the lock. SQLite
   * needs no lock: it has one writer at a time.
   */
  readonly lock: string;
  /** Runs before the first write, and sees everything that was committed before the lock was taken. */
  readonly first: Statement;
  /**
   * Throws to roll the transaction back.
   *
   * @param rows those of `first`; `undefined` if another transaction has the lock
   */
  readonly check: (rows: readonly unknown[] | undefined) => void;
  /** Returns the statements that run right before the commit. */
  readonly last: (value: T) => readonly Statement[];
}

/**
 * Transactions with retries after conflicts, in which repositories, managers and `Queries` take part: the current unit
 * of work is in an `AsyncLocalStorage` of the data source, whose query runners then use its connection.
 *
 * |            | PostgreSQL                                 | SQLite                                                    |
 * | ---------- | ------------------------------------------ | --------------------------------------------------------- |
 * | begin      | a connection of the pool                   | waits for the writing connection; a savepoint of a group  |
 * | commit     | commits                                    | ends the savepoint; the group commits once (`WriteQueue`) |
 * | conflict   | serialization failure, deadlock            | a command writes, or the group could not commit           |
 * | first/last | in one packet with the begin or the commit | one after the other                                       |
 */
export abstract class Transactions {
  constructor(protected readonly source: ServiceDataSource) {}

  /** Whether there is a current unit of work, even if its transaction has not begun. */
  get isActive(): boolean {
    return this.source.unit !== undefined;
  }

  /**
   * Runs a unit of work: all of it commits, or nothing. It runs again after a conflict with another transaction, for up
   * to four seconds, so it must only read and write the database. Within another unit of work it is a part of that one,
   * which fails if this part fails; for a part that may fail by itself there is `dataSource.transaction`, a nested
   * transaction.
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { unit } = this.source;
    const manager = () => this.source.createQueryRunner().manager;
    if (unit) return unit.join(() => work(manager()));
    return retryConflicts(() =>
      this.attempt(async (begin) => {
        await begin();
        return work(manager());
      }),
    );
  }

  /** Runs one writing statement in a transaction, and returns its `RETURNING` rows. */
  execute<Row>(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    const { unit } = this.source;
    if (unit) return unit.execute((runner) => runner.execute<Row>(sql, parameters));
    return this.autocommit<Row>(sql, parameters);
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
   * writes. Everything from the first write to the end of the work belongs to the transaction; without a write, it has
   * only the additional steps. After a conflict it runs again, as in {@link run}; a conflict at the begin repeats the begin
   * alone. On PostgreSQL, the transaction is `READ COMMITTED`.
   */
  deferred<T>(work: () => Promise<T>, steps: DeferredSteps<T>): Promise<T> {
    return retryConflicts(() => this.attempt(work, steps));
  }

  private async attempt<T>(
    work: (begin: () => Promise<void>) => Promise<T>,
    steps?: DeferredSteps<T>,
  ): Promise<T> {
    const runner = this.newRunner();
    let begun: Promise<void> | undefined;
    // A conflict at the beginning is retried without repeating the work before it.
    const begin = () => (begun ??= retryConflicts(() => this.tryBegin(runner, steps)));
    const unit = this.source.newUnit(runner, begin);
    try {
      const value = await unit.complete(() => work(() => unit.open()));
      await begin();
      if (runner.transaction.isNested) throw new Error(NOT_ENDED);
      await runner.commitTransactionWith(steps?.last(value) ?? []);
      return value;
    } catch (error) {
      // A transaction that is still beginning would keep its connection. If it cannot begin, its error comes first,
      // because the work may have replaced it with another.
      const failure = await begun?.then(
        () => error,
        (cause: unknown) => cause,
      );
      throw (await rollBack(runner)) ?? failure ?? error;
    } finally {
      await runner.release();
    }
  }

  private async tryBegin(runner: ServiceQueryRunner, steps?: DeferredSteps<never>): Promise<void> {
    try {
      if (steps) steps.check(await this.beginWith(runner, steps));
      else await runner.startTransaction();
    } catch (error) {
      throw (await rollBack(runner)) ?? error;
    }
  }

  /** @returns the rows of the first statement; `undefined` if another transaction has the lock */
  private async beginWith(
    runner: ServiceQueryRunner,
    { lock, first }: Pick<DeferredSteps<never>, 'lock' | 'first'>,
  ): Promise<readonly unknown[] | undefined> {
    const { dialect } = this.source;
    // One writer at a time: whoever had the lock has committed.
    if (dialect.hasOneProcess) return (await runner.startTransactionWith([first]))[0];
    const locking = { sql: `SELECT ${dialect.tryLock(':lock')} AS "isLocked"`, parameters: { lock } };
    const [locked, rows] = await runner.startTransactionWith([locking, first]);
    return locked![0].isLocked ? rows : undefined;
  }

  /** A runner for a unit of work. */
  protected newRunner(): ServiceQueryRunner {
    return this.source.createOwnQueryRunner();
  }

  /** Runs a statement in a transaction of its own. */
  protected abstract autocommit<Row>(sql: string, parameters: Parameters): Promise<Row[]>;
}

const NOT_ENDED =
  'A transaction that began within this unit of work was not ended; use dataSource.transaction()';

/**
 * Rolls back a transaction.
 *
 * @returns a conflict, if there was one. On SQLite, the work may have failed because of a row of another unit of work
 * in its group (`WriteQueue`): if the group does not commit, the work runs again. Other errors of the rollback do not matter.
 */
async function rollBack(runner: ServiceQueryRunner): Promise<unknown> {
  if (!runner.isTransactionActive) return undefined;
  return runner.rollbackTransaction().then(
    () => undefined,
    (error: unknown) => (isConflict(error) ? error : undefined),
  );
}
