import type { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';
import { isConflict, retryConflicts } from './failures.js';
import type { StatementParameters, Statement } from './statement.js';
import type { Isolation, TransactionState } from './transaction-state.js';

/** A query runner of this service, on either database. */
export interface ServiceQueryRunner extends QueryRunner {
  readonly transaction: TransactionState;
  /** The unit of work that this runner takes part in, whose connection its statements use. */
  readonly unit: UnitOfWork | undefined;
  /** Makes this runner take part in a unit of work; `release` then leaves the connection open. */
  join(unit: UnitOfWork): this;
  /** Runs a statement on the connection at once: the caller has waited for the mutex of the unit. */
  send(sql: string, parameters?: unknown[], useStructuredResult?: boolean): Promise<any>;
  /** Like `send`, for a prepared statement with named placeholders. @returns its rows */
  execute<Row>(sql: string, parameters: StatementParameters): Promise<Row[]>;
  /** Begins a transaction, and reads in it. @returns the rows of each statement, none of which may write */
  beginWith(reads: readonly Statement[], isolation?: Isolation): Promise<any[][]>;
}

/** Runs work exclusively, first come, first served. */
class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}

/** Where and how a unit of work runs. */
interface UnitOptions {
  /** The runner that owns the connection. */
  readonly runner: ServiceQueryRunner;
  /** The unit of the current asynchronous context. */
  readonly current: AsyncLocalStorage<UnitOfWork>;
  /** Begins the transaction; undefined for a nested one, whose outer unit has begun. */
  readonly begin?: (() => Promise<void>) | undefined;
  /** The unit of which this one is a nested transaction. */
  readonly outer?: UnitOfWork;
}

/**
 * Work whose changes commit together. Its transaction begins at once, or (`Transactions.deferred`) with its first
 * statement that may write. If a part fails, all of it fails with that error, even if the work has caught it; only a
 * nested transaction may fail by itself.
 */
export class UnitOfWork {
  private readonly parts = new Set<Promise<unknown>>();
  /** Statements and nested transactions share a connection, and savepoints are a stack. */
  private readonly mutex = new Mutex();
  private readonly hooks: (() => unknown)[] = [];
  private failure: { readonly error: unknown } | undefined;
  private beginning: Promise<void> | undefined;
  private hasBegun: boolean;
  private isOver = false;

  constructor(private readonly options: UnitOptions) {
    this.hasBegun = options.begin === undefined;
  }

  /** The runner that owns the connection. */
  get runner(): ServiceQueryRunner {
    return this.options.runner;
  }

  /** Whether calls still take part in it. Work that outlives its unit of work runs outside of it. */
  get isActive(): boolean {
    return !this.isOver;
  }

  /** Whether its transaction is in progress: a read must take part in it to see what was written. */
  get isInTransaction(): boolean {
    return this.hasBegun && !this.isOver;
  }

  /** Calls back after the commit, and not after a rollback. */
  onCommit(hook: () => unknown): void {
    this.hooks.push(hook);
  }

  /** Begins the transaction, unless it has begun. A conflict is retried here: the work before it does not run again. */
  async begin(): Promise<void> {
    const { begin } = this.options;
    if (begin) await (this.beginning ??= retryConflicts(() => this.tryBegin(begin)));
    this.hasBegun = true;
  }

  /** Runs the work, and rolls back if it fails. Without an error, {@link commit} or {@link rollBack} has to end the unit. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.complete(work);
    } catch (error) {
      throw await this.rollBack(error);
    }
  }

  /** @param last returns statements that run right before the commit, or throws to roll back */
  async commit(last: () => readonly Statement[] = () => []): Promise<void> {
    const { runner } = this.options;
    try {
      for (const { sql, parameters } of last()) await runner.execute(sql, parameters);
      if (runner.transaction.isNested) throw new Error(NOT_ENDED);
      await runner.commitTransaction();
    } catch (error) {
      throw await this.rollBack(error);
    }
    await runner.release();
  }

  /**
   * Rolls back what was written, for an error.
   *
   * @returns the error of the unit: a transaction that could not begin comes first, because the work may have replaced its
   * error with another
   */
  async rollBack(failure: unknown): Promise<unknown> {
    const { runner } = this.options;
    // A transaction that is still beginning would keep its connection.
    const [beginning] = await Promise.allSettled([this.beginning]);
    const conflict = await rollBack(runner);
    await runner.release();
    return conflict ?? (beginning.status === 'rejected' ? beginning.reason : failure);
  }

  private async tryBegin(begin: () => Promise<void>): Promise<void> {
    try {
      await begin();
    } catch (error) {
      throw (await rollBack(this.runner)) ?? error;
    }
  }

  /** Runs the work in its context, and ends when the work and all parts that have joined are done. */
  private complete<T>(work: () => Promise<T>): Promise<T> {
    return this.options.current.run(this, async () => {
      try {
        const value = await work();
        await this.settle();
        const { outer, runner } = this.options;
        (outer ?? runner.transaction).add(this.hooks);
        return value;
      } finally {
        await this.settle().catch(() => undefined);
        this.isOver = true;
      }
    });
  }

  /** Keeps commit hooks of a nested transaction. */
  add(hooks: readonly (() => unknown)[]): void {
    this.hooks.push(...hooks);
  }

  /** Runs a part of the work. If it fails, all of it fails. */
  join<T>(work: () => Promise<T>): Promise<T> {
    return this.part(this.begin().then(work), (error) => (this.failure ??= { error }));
  }

  /** Runs a statement on the connection of the transaction. */
  execute<T>(statement: (runner: ServiceQueryRunner) => Promise<T>): Promise<T> {
    if (this.isOver) {
      return Promise.reject(new Error('A statement came after the end of the unit of work it belongs to'));
    }
    const unit = this.innermost();
    return unit.part(unit.begin().then(() => unit.mutex.run(() => statement(this.runner))));
  }

  /** Runs work that can be rolled back by itself, in a savepoint. All other work of the unit waits until it ends. */
  nest<T>(work: (nested: UnitOfWork) => Promise<T>): Promise<T> {
    const { runner, current } = this.options;
    const nested = new UnitOfWork({ runner, current, outer: this });
    return this.part(this.begin().then(() => this.mutex.run(() => nested.complete(() => work(nested)))));
  }

  /** Waits for the parts that have joined. @throws the error of a part */
  async settle(): Promise<void> {
    while (this.parts.size > 0) await Promise.allSettled(this.parts);
    if (this.failure) throw this.failure.error;
    this.runner.transaction.check();
  }

  /** Whether it is the other unit, or nested in it. */
  isWithin(other: UnitOfWork | undefined): boolean {
    return other === this || this.options.outer?.isWithin(other) === true;
  }

  /**
   * The nested transaction of this unit in which the current context runs, or this unit. A statement of the outer
   * manager within a nested transaction belongs to that one: it would otherwise wait for the transaction that waits for it.
   */
  private innermost(): UnitOfWork {
    let innermost: UnitOfWork | undefined;
    for (let unit = this.options.current.getStore(); unit; unit = unit.options.outer) {
      if (unit.isActive) innermost ??= unit;
      if (unit === this) return innermost ?? this;
    }
    return this;
  }

  private part<T>(part: Promise<T>, onFailure?: (error: unknown) => void): Promise<T> {
    this.parts.add(part);
    part.then(
      () => this.parts.delete(part),
      (error: unknown) => {
        onFailure?.(error);
        this.parts.delete(part);
      },
    );
    return part;
  }
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
