import type { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import type { Parameters, Statement } from './statement.js';

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
  execute<Row>(sql: string, parameters: Parameters): Promise<Row[]>;
  /** Begins a transaction with some statements, on PostgreSQL in one packet. @returns the rows of each */
  startTransactionWith(statements: readonly Statement[]): Promise<any[][]>;
  /** Commits with some statements, on PostgreSQL in one packet. */
  commitTransactionWith(statements: readonly Statement[]): Promise<void>;
}

/** A transaction, or a savepoint in it. */
interface Level {
  failure?: { readonly error: unknown };
}

/** What has happened in the current transaction of a runner, without what was rolled back to a savepoint. */
export class TransactionState {
  private readonly levels: Level[] = [];
  private hooks: (() => unknown)[] = [];

  get isActive(): boolean {
    return this.levels.length > 0;
  }

  get isNested(): boolean {
    return this.levels.length > 1;
  }

  begin(): void {
    this.levels.push({});
  }

  /** Keeps the error of a statement. */
  fail(error: unknown): void {
    const level = this.levels.at(-1);
    if (level) level.failure ??= { error };
  }

  /** @throws the error of a statement, unless a savepoint was rolled back after it */
  check(): void {
    for (const { failure } of this.levels) if (failure) throw failure.error;
  }

  /** Keeps commit hooks until the end of the transaction. */
  add(hooks: readonly (() => unknown)[]): void {
    this.hooks.push(...hooks);
  }

  commit(): void {
    const { hooks } = this;
    this.end();
    if (!this.isActive) for (const hook of hooks) runCommitHook(hook);
  }

  rollback(): void {
    this.end();
  }

  private end(): void {
    this.levels.pop();
    if (!this.isActive) this.hooks = [];
  }
}

/** Calls a hook after a commit. An error is only logged: the commit stands, and its caller must not repeat it. */
export function runCommitHook(hook: () => unknown): void {
  new Promise((resolve) => resolve(hook())).catch((error: unknown) =>
    new Logger('Transactions').error({ msg: 'A commit hook failed', err: error }),
  );
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
  /** Begins the transaction, unless it has begun; undefined if it is in progress. */
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

  /** Begins the transaction, unless it has begun. */
  async open(): Promise<void> {
    await this.options.begin?.();
    this.hasBegun = true;
  }

  /** Runs the work in its context, and ends when the work and all parts that have joined are done. */
  complete<T>(work: () => Promise<T>): Promise<T> {
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
    return this.part(this.open().then(work), (error) => (this.failure ??= { error }));
  }

  /** Runs a statement on the connection of the transaction. */
  execute<T>(statement: (runner: ServiceQueryRunner) => Promise<T>): Promise<T> {
    if (this.isOver) {
      return Promise.reject(new Error('A statement came after the end of the unit of work it belongs to'));
    }
    const unit = this.innermost();
    return unit.part(unit.open().then(() => unit.mutex.run(() => statement(this.runner))));
  }

  /** Runs work that can be rolled back by itself, in a savepoint. All other work of the unit waits until it ends. */
  nest<T>(work: (nested: UnitOfWork) => Promise<T>): Promise<T> {
    const { runner, current } = this.options;
    const nested = new UnitOfWork({ runner, current, outer: this });
    return this.part(this.open().then(() => this.mutex.run(() => nested.complete(() => work(nested)))));
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
