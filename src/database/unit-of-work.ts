import type { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import type { CheckedRunner } from './checked-runner.js';

const logger = new Logger('Transactions');

/** Calls back after a commit. An error is only logged: the commit stands, and its caller must not repeat it. */
export function afterCommit(callback: () => unknown): void {
  new Promise((resolve) => resolve(callback())).catch((error: unknown) =>
    logger.error({ msg: 'A callback after a commit failed', err: error }),
  );
}

/**
 * A transaction in progress, in which calls take part. It commits as a whole or not at all: if one part
 * fails, it fails with that error, even if the work has caught it.
 */
export class UnitOfWork {
  private readonly borrowed = new WeakSet<QueryRunner>();
  private readonly parts = new Set<Promise<unknown>>();
  private readonly callbacks: (() => unknown)[] = [];
  private readonly named = new Set<string>();
  private queue: Promise<unknown> = Promise.resolve();
  private failure: { readonly error: unknown } | undefined;
  private hasBegun: boolean;
  private isOver = false;

  /**
   * @param current the unit of the current asynchronous context
   * @param begin begins the transaction, unless it has begun; undefined if it is in progress
   * @param outer the unit that this one is a savepoint of
   */
  constructor(
    private readonly runner: CheckedRunner,
    private readonly current: AsyncLocalStorage<UnitOfWork>,
    private readonly begin?: () => Promise<void>,
    private readonly outer?: UnitOfWork,
  ) {
    this.hasBegun = begin === undefined;
  }

  /** Whether calls still take part in it. Work that outlives its unit of work runs outside of it. */
  get isUnderWay(): boolean {
    return !this.isOver;
  }

  /** Whether a read must take part in it to see what was written. */
  get hasWritten(): boolean {
    return this.hasBegun && !this.isOver;
  }

  /** The named subjects, in order. */
  get subjects(): Iterable<string> {
    return this.named;
  }

  /** Names a subject; a savepoint that is rolled back removes its names. */
  about(subject: string): void {
    this.named.add(subject);
  }

  /** Runs the work, and ends when the work and all parts that have joined are done. */
  async complete<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work();
      await this.settle();
      return value;
    } finally {
      await this.settle().catch(() => undefined);
      this.isOver = true;
    }
  }

  /** Calls back after the commit, and not after a rollback. */
  onCommit(callback: () => unknown): void {
    this.callbacks.push(callback);
  }

  /** The transaction has committed. */
  reportCommit(): void {
    for (const callback of this.callbacks) afterCommit(callback);
  }

  /** Runs a part of the work. If it fails, all of it fails. */
  join<T>(work: () => Promise<T>): Promise<T> {
    return this.part(this.open().then(work), (error) => (this.failure ??= { error }));
  }

  /** Runs statements on the connection of the transaction. If they fail, all of it fails. */
  execute<T>(statements: (runner: CheckedRunner) => Promise<T>): Promise<T> {
    return this.join(() => this.inTurn(() => this.runner.track(() => statements(this.runner))));
  }

  /** Runs work that can be rolled back alone, in a savepoint. All other work of the unit waits until it ends. */
  nest<T>(work: (unit: UnitOfWork, runner: QueryRunner) => Promise<T>): Promise<T> {
    const unit = new UnitOfWork(this.runner, this.current, undefined, this);
    const runner = Object.assign(unit.lend(), {
      commitTransaction: () => unit.settle().then(() => this.runner.commitTransaction()),
    });
    return this.part(
      this.open()
        .then(() => this.inTurn(() => work(unit, runner)))
        .then((value) => {
          this.callbacks.push(...unit.callbacks);
          for (const subject of unit.named) this.named.add(subject);
          return value;
        }),
    );
  }

  /** Waits for the parts that have joined. @throws the error of a part */
  async settle(): Promise<void> {
    while (this.parts.size > 0) await Promise.allSettled(this.parts);
    if (this.failure) throw this.failure.error;
    this.runner.check();
  }

  /** The connection for a participant: `release` does not return it to the pool, and it fails after the end. */
  lend(): QueryRunner {
    const { runner } = this;
    const lent = Object.assign(Object.create(runner) as QueryRunner, {
      // `save` and the like must not begin a transaction of their own.
      isTransactionActive: true,
      query: (...parameters: Parameters<QueryRunner['query']>) => {
        if (this.isOver)
          return Promise.reject(new Error('A statement came after the end of the transaction it belongs to'));
        const unit = this.innermost();
        return unit.part(unit.open().then(() => unit.inTurn(() => runner.query(...parameters))));
      },
      connect: () => this.open().then(() => runner.connect()),
      startTransaction: () => this.open().then(() => runner.startTransaction()),
      commitTransaction: () => runner.commitTransaction(),
      rollbackTransaction: () => runner.rollbackTransaction(),
      release: async () => undefined,
    });
    this.borrowed.add(lent);
    return lent;
  }

  /** Whether a runner belongs to a participant of this unit or of one around it. */
  lent(runner: QueryRunner): boolean {
    return this.borrowed.has(runner) || this.outer?.lent(runner) === true;
  }

  async open(): Promise<void> {
    await this.begin?.();
    this.hasBegun = true;
  }

  /**
   * The savepoint of this unit in which the current context runs, or this unit. A statement of the outer manager within
   * a nested transaction belongs to that one: in the outer queue it would wait for the transaction that waits for it.
   */
  private innermost(): UnitOfWork {
    let innermost: UnitOfWork | undefined;
    for (let unit = this.current.getStore(); unit; unit = unit.outer) {
      if (unit.isUnderWay) innermost ??= unit;
      if (unit === this) return innermost ?? this;
    }
    return this;
  }

  /** Statements and nested transactions run one after the other, because they share a connection. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.queue.then(work);
    this.queue = turn.catch(() => undefined);
    return turn;
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
