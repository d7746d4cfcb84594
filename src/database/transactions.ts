import type { EntityManager } from 'typeorm';
import type { Parameters } from './parameters.js';
import { retryCollisions } from './retry.js';
import type { ServiceDataSource } from './service-data-source.js';
import {
  isWrite,
  runCommitHook,
  type ServiceQueryRunner,
  type TransactionParticipant,
} from './unit-of-work.js';

/** A statement with the values of its placeholders. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Parameters;
}

/** Additional steps of a deferred unit of work, in the same transaction. */
interface TransactionHooks<T> {
  /** Before the first write. */
  readonly atBegin: () => Promise<void>;
  /** After the last write, before the commit. */
  readonly atEnd: (value: T) => Promise<void>;
}

const NOTHING: TransactionHooks<unknown> = { atBegin: async () => undefined, atEnd: async () => undefined };

/** Transactions with retries after conflicts, in which repositories, managers and `Queries` take part. */
export abstract class Transactions {
  constructor(protected readonly source: ServiceDataSource) {}

  /** Adds a participant, which writes in the transaction of every change. */
  addParticipant(participant: TransactionParticipant): void {
    this.source.participants.push(participant);
  }

  /** Whether a change in the current context has participants, and so requires a unit of work. */
  get hasParticipants(): boolean {
    return this.source.hasParticipants;
  }

  /** Adds a resource that the current unit of work changes, by its path: `/v1/posts/7`. */
  addSubject(path: string): void {
    this.source.unit?.addSubject(path);
  }

  /** Whether there is a current unit of work. */
  get isActive(): boolean {
    return this.source.unit !== undefined;
  }

  /**
   * Runs a unit of work: all of it commits, or nothing. It runs again after a conflict with another transaction,
   * so it must only read and write the database. Within another unit of work it is a part of that one, which fails
   * if this part fails; for a part that may fail by itself there is `dataSource.transaction`, a nested transaction.
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { unit } = this.source;
    const manager = () => this.source.createQueryRunner().manager;
    if (unit) return unit.join(() => work(manager()));
    return retryCollisions(() =>
      this.attempt(async (begin) => {
        await begin();
        return work(manager());
      }, NOTHING),
    );
  }

  /** Runs one writing statement in a transaction, and returns its `RETURNING` rows. */
  execute<Row>(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    const { unit } = this.source;
    if (unit) return unit.execute((runner) => runner.execute<Row>(sql, parameters));
    if (this.hasParticipants && isWrite(sql)) return this.run(() => this.execute<Row>(sql, parameters));
    this.source.noteWrite();
    return this.autocommit<Row>(sql, parameters).catch(this.noteFailure);
  }

  /**
   * Runs a writing statement, and one that depends on its rows, in one transaction.
   *
   * @param following `undefined` if no statement follows
   * @returns the rows of the first statement
   */
  executeBoth<Row>(
    statement: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    if (this.isActive || this.hasParticipants)
      return this.run(() => this.executeInOrder(statement, following));
    return this.autocommitBoth(statement, following).catch(this.noteFailure);
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
   * Runs a unit of work whose transaction begins with its first write, so that slow work before that
   * blocks no other writes; everything after it, up to the end of the work, belongs to it. Work without
   * a write ends with a transaction for the additional steps. It may run more than once.
   */
  deferred<T>(work: () => Promise<T>, hooks: TransactionHooks<T>): Promise<T> {
    return retryCollisions(() => this.attempt(work, hooks));
  }

  private async attempt<T>(
    work: (begin: () => Promise<void>) => Promise<T>,
    hooks: TransactionHooks<T>,
  ): Promise<T> {
    const runner = this.source.createOwnQueryRunner();
    let begun: Promise<void> | undefined;
    // A conflict at the beginning is retried without repeating the work before it.
    const begin = () => (begun ??= retryCollisions(() => this.begin(runner, hooks)));
    const unit = this.source.newUnit(runner, begin);
    try {
      const value = await unit.complete(() => work(() => unit.open()));
      await begin();
      await this.source.newUnit(runner).complete(() => hooks.atEnd(value));
      await runner.commitTransaction();
      return value;
    } catch (error) {
      // Its connection would stay in use while it begins.
      const failure = await begun?.then(
        () => error,
        (cause: unknown) => cause,
      );
      await rollBack(runner);
      throw failure ?? error;
    } finally {
      await runner.release();
    }
  }

  private async begin(runner: ServiceQueryRunner, { atBegin }: TransactionHooks<never>): Promise<void> {
    try {
      await runner.startTransaction();
      await this.source.newUnit(runner).complete(atBegin);
    } catch (error) {
      await rollBack(runner);
      throw error;
    }
  }

  protected autocommitBoth<Row>(
    statement: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    return this.run(() => this.executeInOrder(statement, following));
  }

  private async executeInOrder<Row>(
    { sql, parameters }: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    const rows = await this.execute<Row>(sql, parameters);
    const next = following(rows);
    if (next) await this.execute(next.sql, next.parameters);
    return rows;
  }

  private readonly noteFailure = (error: unknown): never => {
    this.source.storage.note(error);
    throw error;
  };

  /** Runs a statement in a transaction of its own. */
  protected abstract autocommit<Row>(sql: string, parameters: Parameters): Promise<Row[]>;
}

/** The error of the work is thrown, not that of its rollback. */
const rollBack = async (runner: ServiceQueryRunner): Promise<void> => {
  if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
};
