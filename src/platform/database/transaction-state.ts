import { Logger } from '@nestjs/common';
import {
  type EntitySubscriberInterface,
  EventSubscriber,
  type QueryRunner,
  type TransactionCommitEvent,
  type TransactionRollbackEvent,
  type TransactionStartEvent,
} from 'typeorm';

export type Isolation = NonNullable<Parameters<QueryRunner['startTransaction']>[0]>;

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

/** Keeps the state of every transaction, whoever begins and ends it. */
@EventSubscriber()
export class TransactionSubscriber implements EntitySubscriberInterface {
  afterTransactionStart({ queryRunner }: TransactionStartEvent): void {
    stateOf(queryRunner).begin();
  }

  /** @throws the error of a statement, so that the transaction does not commit */
  async beforeTransactionCommit({ queryRunner }: TransactionCommitEvent): Promise<void> {
    stateOf(queryRunner).check();
  }

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    stateOf(queryRunner).commit();
  }

  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    stateOf(queryRunner).rollback();
  }
}

const stateOf = (runner: QueryRunner) =>
  (runner as QueryRunner & { readonly transaction: TransactionState }).transaction;
