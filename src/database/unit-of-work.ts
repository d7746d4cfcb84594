import type { QueryRunner } from 'typeorm';
import type { CheckedRunner } from './checked-runner.js';

/**
 * A transaction that is under way, for the calls within it to take part in. All of it happens or none: a part
 * that has failed is what it ends with, though the work may have caught the error and gone on.
 */
export class UnitOfWork {
  private readonly borrowed = new WeakSet<QueryRunner>();
  private readonly parts = new Set<Promise<unknown>>();
  private readonly callbacks: (() => void)[] = [];
  private readonly named = new Set<string>();
  private queue: Promise<unknown> = Promise.resolve();
  private failure: { readonly error: unknown } | undefined;
  private hasBegun: boolean;
  private isOver = false;

  /** @param begin begins the transaction, unless that has happened; absent where it is under way */
  constructor(
    private readonly runner: CheckedRunner,
    private readonly begin?: () => Promise<void>,
  ) {
    this.hasBegun = begin === undefined;
  }

  /** Whether calls still take part in it. What outlives its unit of work is on its own. */
  get isUnderWay(): boolean {
    return !this.isOver;
  }

  /** Whether a read has to take part in it to see what was written. */
  get hasWritten(): boolean {
    return this.hasBegun && !this.isOver;
  }

  /** What has been named as changed by it, in this order. */
  get subjects(): Iterable<string> {
    return this.named;
  }

  /** Names what it changes; a savepoint that is rolled back takes its names with it. */
  about(subject: string): void {
    this.named.add(subject);
  }

  /** Does the work, and ends with it and with all that has joined it by then. */
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

  /** Calls back after the commit, and never without one. */
  onCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }

  /** The transaction has committed. */
  reportCommit(): void {
    for (const callback of this.callbacks) callback();
  }

  /** Does a part of the work. If it fails, all of it fails. */
  join<T>(work: () => Promise<T>): Promise<T> {
    return this.part(this.open().then(work), (error) => (this.failure ??= { error }));
  }

  /** Runs statements on the connection of the transaction. If they fail, all of it fails. */
  execute<T>(statements: (runner: CheckedRunner) => Promise<T>): Promise<T> {
    return this.join(() => this.inTurn(() => this.runner.track(() => statements(this.runner))));
  }

  /** Does work that can be taken back alone, in a savepoint. Everything outside of it waits meanwhile. */
  nest<T>(work: (unit: UnitOfWork, runner: QueryRunner) => Promise<T>): Promise<T> {
    const unit = new UnitOfWork(this.runner);
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

  /** Waits for what has joined it. @throws what failed in it */
  async settle(): Promise<void> {
    while (this.parts.size > 0) await Promise.allSettled(this.parts);
    if (this.failure) throw this.failure.error;
    this.runner.check();
  }

  /** The connection, for a participant: it is not given back by `release`, and of no use after the end. */
  lend(): QueryRunner {
    const { runner } = this;
    const lent = Object.assign(Object.create(runner) as QueryRunner, {
      // `save` and the like need not begin a transaction of their own.
      isTransactionActive: true,
      query: (...parameters: Parameters<QueryRunner['query']>) => {
        if (this.isOver)
          return Promise.reject(new Error('A statement came after the end of the transaction it belongs to'));
        return this.part(this.open().then(() => this.inTurn(() => runner.query(...parameters))));
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

  /** Whether a runner is that of a participant. */
  lent(runner: QueryRunner): boolean {
    return this.borrowed.has(runner);
  }

  async open(): Promise<void> {
    await this.begin?.();
    this.hasBegun = true;
  }

  /** One statement or nested transaction after the other: they share a connection. */
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
